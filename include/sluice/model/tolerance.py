"""Rows of a slave that are not as the master's changes expect them; what a slave does about them is its own affair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from sluice.model.layout import Layout
from sluice.model.names import TableName


class Oddity(StrEnum):
    """How a row was found: not there, although it changes or goes; there, although it comes."""

    MISSING = "missing"
    DUPLICATE = "duplicate"


# How many rows of each of the slave's tables.
Tolerated = Counter[tuple[TableName, Oddity]]


def oddities(table: TableName, missing: int = 0, duplicate: int = 0) -> Tolerated:
    """The count of one table; fewer than none missing are so many too many."""
    found = {Oddity.MISSING: max(missing, 0), Oddity.DUPLICATE: duplicate + max(-missing, 0)}
    return Counter({(table, oddity): rows for oddity, rows in found.items() if rows})


class Way(StrEnum):
    """What is done about such a row."""

    WARN = "warn"
    """It becomes what it is on the master, and is counted."""
    UPSERT = "upsert"
    """It becomes what it is on the master."""
    STOP = "stop"
    """The slave stops in front of the transaction."""
    RECORD = "record"
    """The row stays as it is, and the change is kept in the control store."""


@dataclass(frozen=True)
class Tolerance:
    """What is done about the rows of one table that are not as expected."""

    missing: Way = Way.WARN
    duplicate: Way = Way.WARN

    def way(self, oddity: Oddity) -> Way:
        """What is done about one of them."""
        return self.missing if oddity is Oddity.MISSING else self.duplicate

    @property
    def strict(self) -> bool:
        """Whether each change has to be looked at by itself."""
        return not {self.missing, self.duplicate} <= {Way.WARN, Way.UPSERT}


@dataclass(frozen=True)
class Rejected:
    """A change that was not carried out, since its row was not as expected. Images as in a segment."""

    layout: Layout
    oddity: Oddity
    action: str
    ordinal: int
    repl_key: int
    new: list[str | None] | None
    old: list[str | None] | None


@dataclass(frozen=True)
class Tolerating:
    """How a slave takes rows that are not as expected.

    Attributes:
        tables: of its tables, by its own names, those that are not taken as by default.
        rejected: told what was not carried out, before the transaction ends; again if it is rolled back and repeated.
    """

    tables: Mapping[TableName, Tolerance] = field(default_factory=dict)
    rejected: Callable[[Sequence[Rejected]], None] = lambda _: None

    def of(self, table: TableName) -> Tolerance:
        """How the rows of a table are taken."""
        return self.tables.get(table, Tolerance())

    def counted(self, found: Tolerated) -> Tolerated:
        """Those of them that are worth a warning."""
        return Counter({key: rows for key, rows in found.items() if self.of(key[0]).way(key[1]) is not Way.UPSERT})


EASY = Tolerating()
