"""Which transactions of a master a snapshot shows (R5). Core code keeps the texts of both, and reads neither."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from sluice.model.position import Snapshot

if TYPE_CHECKING:
    import pyarrow as pa


class Visibility(Protocol):
    """The transactions that a snapshot shows, read from its text. Transactions are as the log has them, in
    `trans_key`.
    """

    @property
    def age(self) -> tuple[int, ...]:
        """Sorts snapshots of one master by the time at which they were taken."""

    @property
    def since(self) -> str:
        """A transaction before which it shows every one, for `Chunk.since`."""

    def sees(self, transaction: str) -> bool:
        """Whether it shows a committed transaction."""

    def are_newer(self, transactions: pa.ChunkedArray) -> pa.ChunkedArray:
        """Which of these committed transactions it does not show."""


# Raises ValueError for what is no snapshot of this kind of master.
ReadSnapshot = Callable[[Snapshot], Visibility]
