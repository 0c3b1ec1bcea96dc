"""What is known of the transaction of the log that is read."""

from __future__ import annotations

from dataclasses import dataclass, field

from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.vendors.mariadb.capture.binlog import events
from sluice.vendors.mariadb.capture.binlog.savepoints import Savepoints


@dataclass
class Transaction:
    """A transaction.

    Attributes:
        is_alone: one event is all of it, a definition; None: the statement that follows says it.
        is_provisional: the definition does not count yet.
        is_xa: it is one of XA, whose rows count later or not at all.
        touched: the watched tables of which it has rows.
        unmade: watched tables that slaves were not told of.
    """

    is_alone: bool | None = False
    is_provisional: bool = False
    is_xa: bool = False
    touched: set[TableName] = field(default_factory=set)
    unmade: list[Layout] = field(default_factory=list)
    saved: Savepoints = field(default_factory=Savepoints)

    @classmethod
    def begun(cls, kind: int, data: bytes) -> Transaction:
        """The one that a GTID begins."""
        alone = events.stands_alone(kind, data)
        return cls(alone, events.is_provisional(kind, data), events.prepares(kind, data))
