"""What every Spark task of a dump is told: where to read, in which snapshot, and where to write under which epoch."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.apply.view import TableView
from sluice.initial_update.plan import Chunk
from sluice.model.names import Resources, TableName


@dataclass(frozen=True)
class SlaveLoad:
    """One slave of a dump: its kind, its connection's id, its fence, what it sees of the tables, the id of the
    connection with its salt, and the masters in its database that are not to hear of what is loaded."""

    slave: str
    vendor: str
    connection: str
    schema: str
    epoch: int
    views: dict[TableName, TableView]
    salt: str | None = None
    masters: tuple[Resources, ...] = ()


@dataclass(frozen=True)
class LoadJob:
    """A dump, as the tasks see it. Nothing in here is secret: `sealed` opens only with the deployment's key file.

    Attributes:
        tasks: how many copy at the same time.
    """

    vendor: str
    source: str
    connection: str
    sealed: str
    snapshot_id: str
    chunks: tuple[Chunk, ...]
    binary: dict[TableName, bool]
    slaves: tuple[SlaveLoad, ...]
    tasks: int


@dataclass(frozen=True)
class SlaveLoaded:
    """What one task did for one slave: the rows it committed, and why it ended early, or empty."""

    slave: str
    rows: int
    error: str
