"""What every Spark task of a verification is told: one table of one slave, and where both sides are read."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.model.names import TableName


@dataclass(frozen=True)
class Side:
    """One side of one table: where, and in which exported snapshot."""

    vendor: str
    connection: str
    snapshot_id: str
    table: TableName


@dataclass(frozen=True)
class Comparison:
    """One table of one slave, compared by one task; nothing in here is secret but what is sealed."""

    sealed: str
    slave: str
    name: TableName
    columns: tuple[str, ...]
    key: tuple[str, ...]
    master: Side
    replica: Side
    percent: int
