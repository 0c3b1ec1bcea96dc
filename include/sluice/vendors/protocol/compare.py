"""The description of one comparison for a Spark task: a table of one slave, and the addresses of both sides."""

from __future__ import annotations

from dataclasses import dataclass, field

from sluice.apply.mapping.table_view import TableView
from sluice.verify.difference import Keeping


@dataclass(frozen=True)
class Side:
    """One side: where, and in which exported snapshot; of a master also the roles whose functions may run with our
    rights."""

    vendor: str
    connection: str
    snapshot_id: str
    trusted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """One table of one slave, compared by one task; nothing in here is secret but what is sealed.

    Attributes:
        salt: the id of the connection with the slave's salt.
        own_rows: the slave may have rows that the master has not.
        keeping: the rows to keep of those that differ.
    """

    sealed: str
    slave: str
    view: TableView
    master: Side
    replica: Side
    percent: int
    salt: str | None = None
    own_rows: bool = False
    keeping: Keeping = field(default_factory=Keeping)
