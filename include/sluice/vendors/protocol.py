"""What every vendor offers: the ports of a source and of a slave, and the capabilities that core code asks for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from sluice.apply.mapper import Mapper
from sluice.apply.net import Net
from sluice.connections import ConnectionInfo
from sluice.initial_update.job import ChunkLoaded, LoadJob
from sluice.initial_update.plan import Chunk, Leaf
from sluice.model.layout import Layout
from sluice.model.names import Pair, TableName
from sluice.model.position import Position, Snapshot
from sluice.verify.compare import Difference
from sluice.verify.comparison import Comparison


@dataclass(frozen=True)
class Capabilities:
    """What a database, or the role we have on it, can do; core code never asks for a vendor's name."""

    event_triggers: bool = False
    transactional_ddl: bool = False
    silent_triggers: bool = False


@dataclass(frozen=True)
class Watch:
    """How one table is to be captured."""

    actions: str
    trigger: str | None = None
    sequence: int = -1


@dataclass(frozen=True)
class Installed:
    """What bootstrap changed: tables that got a trigger, and tables that lost it."""

    added: tuple[TableName, ...] = ()
    removed: tuple[TableName, ...] = ()


@dataclass(frozen=True)
class SourceState:
    """The one row a source keeps of its publisher: which source this is, and what was purged last (R2)."""

    incarnation: str
    segment: int
    sha256: str


@dataclass(frozen=True)
class Purge:
    """What a purge removes and records, in the transaction of the sweep that read it."""

    segment: int
    sha256: str


class Sweep(Protocol):
    """One snapshot of ITEMS: whole committed transactions, in the order of their largest keys (R1)."""

    snapshot: Snapshot
    state: SourceState
    bound: int | None

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The changes in order, columns as in `sluice.changelog.schema.SWEPT`; none if nothing is queued."""

    def layouts(self) -> Mapping[int, Layout]:
        """The layouts that images of this sweep were written under, by id."""

    def make_durable(self) -> None:
        """Commit a write with a flush, which flushes all that the snapshot saw; before listing (R2)."""

    def purge(self, purge: Purge, changes: int) -> None:
        """Remove exactly what this sweep read, which is so many changes, record the segment, commit."""


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


class SourceDatabase(Protocol):
    """A master, as the publisher, the dump and the verifier see it."""

    def capabilities(self) -> Capabilities:
        """What this source and our role on it can do."""

    def install(
        self, watched: Mapping[TableName, Watch], *, recreate: bool = False, unreadable: Collection[TableName] = ()
    ) -> Installed:
        """Install or reconcile the DbResources and the triggers, in one transaction, dropping nothing that exists.

        What is queued of `unreadable` tables is forgotten: their slaves must be INCONSISTENT before.
        """

    def unreadable(self) -> list[TableName]:
        """Watched tables whose columns changed and nobody recorded it, so that what is queued cannot be read."""

    def is_installed(self) -> bool:
        """Whether the DbResources are there."""

    def missing(self, tables: Sequence[TableName]) -> list[TableName]:
        """Which of these are no tables of the source."""

    def take_over(self, epoch: int) -> None:
        """Raise the fence to `epoch`; a publisher with a lower one cannot commit from then on (R6)."""

    def queued(self) -> bool:
        """Whether ITEMS holds anything."""

    def sweep(
        self, epoch: int, max_changes: int | None, snapshot_id: str | None = None
    ) -> AbstractContextManager[Sweep]:
        """Read ITEMS in one snapshot: ours, or one exported by somebody else."""

    def heal(self, epoch: int, purge: Purge, keys: Sequence[int]) -> int:
        """Purge again what is in the log already, naming its keys (R2)."""

    def accept(self, epoch: int, segment: int, sha256: str) -> str:
        """Take this source as the one whose log ends with `segment`; its incarnation."""

    def exported_snapshot(self) -> AbstractContextManager[tuple[str, str]]:
        """Hold a snapshot open for others: (id to import, text to compare with)."""

    def dump_snapshot(
        self, tables: Sequence[TableName], log_end: Callable[[], Position]
    ) -> AbstractContextManager[DumpSnapshot]:
        """Lock the tables against DDL, read the log's end, take a snapshot and hold it."""

    def shape(self, snapshot_id: str, name: TableName) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns of a table and those of its primary key, as an exported snapshot shows them."""

    def close(self) -> None:
        """End the sessions."""


class SlaveTables(Protocol):
    """A slave's tables during an initial update, fenced by the dump's epoch."""

    mapper: Mapper
    as_text: set[TableName]

    def prepare(self, tables: Sequence[Any]) -> None:
        """Create what is missing, refuse what cannot hold the data, empty what is there."""

    def finish(self, tables: Sequence[Any], chunks: int) -> None:
        """Keys and indexes of the tables that were made, once every chunk is in."""

    def begin_stream(self, position: Position, snapshot: Snapshot) -> None:
        """From here on the stream, without what the snapshot saw."""

    def progress(self) -> tuple[int, int]:
        """Chunks and rows committed so far."""

    def close(self) -> None:
        """End the session."""


class SlaveDatabase(Protocol):
    """A slave, as the drain, the dump and the verifier see it."""

    pair: Pair
    mapper: Mapper

    def capabilities(self) -> Capabilities:
        """What this slave and our role on it can do."""

    def guarded(self, tables: Sequence[TableName]) -> list[str]:
        """Triggers and foreign keys of the slave that would act on what is replicated."""

    def take_over(self, epoch: int) -> tuple[Position, Snapshot | None]:
        """Raise the fence to `epoch`; returns how far the slave is and the snapshot its data began with."""

    def apply(self, runs: Iterable[Sequence[tuple[Net, pa.Table]]], end: Position) -> int:
        """One transaction: the runs in order, and the position. Returns how many rows were not as expected.

        Raises:
            KeyConflict: a row of the slave, or of a later transaction, bears a key of this batch.
            FencedError: somebody took over; the transaction is rolled back.
        """

    def make_durable(self) -> None:
        """Wait until everything committed here so far is on the disk (R3)."""

    def loading(self, epoch: int) -> SlaveTables:
        """The tables, for a dump under an epoch of its own."""

    def aligned(self, at: Position, patience_s: float) -> AbstractContextManager[str]:
        """A snapshot of the slave exactly at a point of the stream, held open; its id, to import (R10)."""

    def close(self) -> None:
        """End the session."""


@dataclass(frozen=True)
class Vendor:
    """One kind of database: its ports, and what its Spark tasks do."""

    source: Callable[[ConnectionInfo, str, str], SourceDatabase]
    slave: Callable[[ConnectionInfo, Pair, str, Mapper], SlaveDatabase]
    load_chunk: Callable[[LoadJob, Chunk], list[ChunkLoaded]]
    compare_table: Callable[[Comparison], Difference]
