"""What every vendor offers: the ports of a source and of a slave, and the capabilities that core code asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.position import Position, Snapshot


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
        """The changes in order, columns as in `sluice.changelog.segment.SWEPT`; none if nothing is queued."""

    def layouts(self) -> Mapping[int, Layout]:
        """The layouts that images of this sweep were written under, by id."""

    def make_durable(self) -> None:
        """Commit a write with a flush, which flushes all that the snapshot saw; before listing (R2)."""

    def purge(self, purge: Purge, changes: int) -> None:
        """Remove exactly what this sweep read, which is so many changes, record the segment, commit."""


class SourceDatabase(Protocol):
    """A master, as the publisher and the dump see it."""

    def capabilities(self) -> Capabilities:
        """What this source and our role on it can do."""

    def install(self, watched: Mapping[TableName, Watch], *, recreate: bool = False) -> Installed:
        """Install or reconcile the DbResources and the triggers, in one transaction, dropping nothing that exists."""

    def take_over(self, epoch: int) -> None:
        """Raise the fence to `epoch`; a publisher with a lower one cannot commit from then on (R6)."""

    def sweep(
        self, epoch: int, max_changes: int | None, snapshot_id: str | None = None
    ) -> AbstractContextManager[Sweep]:
        """Read ITEMS in one snapshot: ours, or one exported by somebody else."""

    def heal(self, epoch: int, purge: Purge, keys: Sequence[int]) -> int:
        """Purge again what is in the log already, naming its keys (R2)."""


class SlaveDatabase(Protocol):
    """A slave, as the drain sees it."""

    def capabilities(self) -> Capabilities:
        """What this slave and our role on it can do."""

    def take_over(self, epoch: int) -> tuple[Position, Snapshot | None]:
        """Raise the fence to `epoch`; returns how far the slave is and the snapshot its data began with."""

    def close(self) -> None:
        """End the session."""
