"""The publisher's view of a source: a sweep of ITEMS, and its purge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sluice.model.server_identity import ServerIdentity

if TYPE_CHECKING:
    import pyarrow as pa

    from sluice.model.layout import Layout
    from sluice.model.position import Snapshot


@dataclass(frozen=True)
class SourceState(ServerIdentity):
    """The server of a source, and whether it is another one's successor."""

    def succeeds(self, incarnation: str) -> bool:
        """Whether this is the same source as that one, which other servers go on with since: a standby was promoted, or
        a backup restored. Never where a vendor cannot tell.
        """
        return False

    def is_succeeded_by(self, incarnation: str) -> bool:
        """Whether that one is such a successor of this source, which nobody should write to any more."""
        return False


@dataclass(frozen=True)
class Purge:
    """The rows that a purge removes, and its record, in the transaction of the sweep that read it."""

    segment: int
    sha256: str


class Sweep(Protocol):
    """One snapshot of ITEMS: whole committed transactions, in the order of their largest keys; `more` are left (R1).

    `more` is known once the batches were read.
    """

    snapshot: Snapshot
    state: SourceState
    more: bool

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The changes in order, columns as in `sluice.changelog.schema.SWEPT`; none if nothing is queued."""

    def layouts(self) -> Mapping[int, Layout]:
        """The layouts that images of this sweep were written under, by id."""

    def make_durable(self) -> None:
        """Commit a write with a flush, which flushes all that the snapshot saw; before listing (R2)."""

    def purge(self, purge: Purge, changes: int) -> None:
        """Remove exactly what this sweep read, which is so many changes, record the segment, commit."""

    def deletion(self, column: str, number: object) -> str:
        """The statement by which somebody takes changes out of ITEMS, to be typed on the source."""
