"""A master as it is read: its catalog, its sequences, and its rows in a snapshot. Its changes come by `capture.py`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sluice.model.foreign_code import ForeignCode
    from sluice.model.layout import Column, Layout
    from sluice.model.names import TableName
    from sluice.model.position import Position
    from sluice.model.sequence import SequenceValue
    from sluice.model.watched import Watch
    from sluice.vendors.protocol.capture import Capture
    from sluice.vendors.protocol.load import At, DumpSnapshot, TableDefinition


class MasterDatabase(Protocol):
    """A master, as the dump and the verifier read it, however its changes are captured."""

    def eligible(self, schemas: Collection[str]) -> list[TableName]:
        """The tables of these schemas that wildcards may take."""

    def dumpable(self, watched: Mapping[TableName, Watch]) -> Sequence[TableDefinition]:
        """See that tables, which are there, can be watched and read; their definitions. Nothing is written or locked.

        Raises:
            SluiceError: SLC-041, SLC-477, one of them cannot be watched; SLC-033, SLC-360, or not be read.
        """

    def foreign_code(self) -> list[ForeignCode]:
        """The watched tables whose queries run code of others with our rights, when they are planned."""

    def columns(self, tables: Sequence[TableName]) -> Mapping[TableName, Sequence[Column]]:
        """The columns of these tables, none for what is no table of the source."""

    def sequences(self) -> list[SequenceValue]:
        """How far the sequences of watched tables have come by now; no row of an earlier snapshot is beyond that.

        Raises:
            TransientError: somebody alters one of them.
        """

    def exported_snapshot(self) -> AbstractContextManager[tuple[str, str]]:
        """Hold a snapshot open for others: (id to import, text to compare with)."""

    def dump_snapshot(
        self,
        stages: Sequence[Sequence[TableName]],
        log_end: Callable[[], Position],
        at: At | None = None,
        yields_after_s: float | None = None,
    ) -> AbstractContextManager[DumpSnapshot]:
        """Lock the tables against DDL, read the log's end, take a snapshot and hold it.

        Args:
            stages: the tables, in the order in which they are read.
            at: asked for a point of the log, and the snapshot of it, which is taken instead.
            yields_after_s: all that holds or reads the snapshot ends, and its block with SLC-275, as soon as a
                statement of others has waited so long for one of the tables; None or 0: never.
        """

    def shape(self, snapshot_id: str, name: TableName) -> Layout | None:
        """The columns of a table and its primary key, as an exported snapshot shows them; None if it is not watched
        there.
        """

    def close(self) -> None:
        """End the sessions."""


@dataclass(frozen=True)
class Source:
    """A source: its master, and one way of capturing the changes of it."""

    master: MasterDatabase
    capture: Capture

    def close(self) -> None:
        """End the sessions of both."""
        self.capture.close()
        self.master.close()
