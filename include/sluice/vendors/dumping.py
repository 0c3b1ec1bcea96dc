"""What every vendor offers to an initial update: the master's tables in one snapshot, and a slave's that are filled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sluice.apply.mapper import Mapper
from sluice.initial_update.plan import Leaf
from sluice.model.names import TableName
from sluice.model.position import Position, Snapshot
from sluice.model.sequence import SequenceValue


class TableDefinition(Protocol):
    """A table of the master as a dump's snapshot shows it; the rest of it is the vendor's."""

    @property
    def name(self) -> TableName:
        """The table, as the master calls it."""

    @property
    def data_columns(self) -> tuple[str, ...]:
        """The columns that are copied."""

    @property
    def undecoded(self) -> bool:
        """Whether rows may be copied without being decoded."""


class DumpSnapshot(Protocol):
    """A snapshot held open for a dump; see R5 for the order in which it is taken."""

    id: str
    snapshot: Snapshot
    position: Position

    def definitions(self) -> Sequence[TableDefinition]:
        """The tables."""

    def leaves(self) -> list[Leaf]:
        """The relations that hold their rows."""


class SlaveTables(Protocol):
    """A slave's tables during an initial update, fenced by the dump's epoch."""

    mapper: Mapper
    as_text: set[TableName]

    def prepare(self, tables: Sequence[Any]) -> None:
        """Create what is missing, refuse what cannot hold the data, empty what is there."""

    def expect(self, chunks: int) -> None:
        """Write down the chunks that are to come, for tasks to claim."""

    def finish(self, tables: Sequence[Any], chunks: int) -> None:
        """Keys and indexes of the tables that were made, once every chunk is in."""

    def follow(self, sequences: Sequence[SequenceValue]) -> None:
        """Let the sequences give out nothing that the master's have given out."""

    def begin_stream(self, position: Position, snapshot: Snapshot) -> None:
        """From here on the stream, without what the snapshot saw."""

    def progress(self) -> tuple[int, int]:
        """Chunks and rows committed so far."""

    def close(self) -> None:
        """End the session."""
