"""Cycles of replications: changes that come back to the database that sent them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sluice.model.names import TableName
from sluice.model.watched import Pattern, chosen


@dataclass(frozen=True)
class Link:
    """One replication, as an edge between two databases.

    Attributes:
        begins, ends: ids of the master's and of the slave's database.
        patterns: the tables that are captured on the master.
        schemas: names of the slave for schemas that have another name there, by the master's.
        moved: the same for single tables.
        blocked: the loop filter is on (`block_loop`).
    """

    source: str
    slave: str
    begins: str
    ends: str
    patterns: tuple[Pattern, ...]
    schemas: Mapping[str, str]
    moved: Mapping[TableName, TableName]
    blocked: bool

    @property
    def fault(self) -> str:
        """The error message for a replication whose changes come back."""
        return (
            f"what {self.source} sends to {self.slave} would come back to it, again and again: set block_loop in every "
            "replication of that circle"
        )

    def brings(self, tables: Iterable[Pattern]) -> frozenset[Pattern]:
        """The names under which these tables of the master arrive on the slave; empty if they are not replicated."""
        return frozenset(other for one in _both(tables, self.patterns) for other in self._arriving(one))

    def _arriving(self, one: Pattern) -> Iterator[Pattern]:
        """The names under which one entry arrives; for a wildcard also those of tables with a mapping of their own."""
        named = TableName(one.schema, one.table)
        moved = filter(one.takes, self.moved) if one.wildcard else [named] if named in self.moved else []
        if one.wildcard or named not in self.moved:
            yield Pattern(self.schemas.get(one.schema, one.schema), one.table, one.wildcard)
        for name in moved:
            if chosen(self.patterns, name):
                yield Pattern(self.moved[name].schema, self.moved[name].table)


def unblocked_loops(arrows: Sequence[Link]) -> list[Link]:
    """The replications without a loop filter whose changes come back to the tables that they came from."""
    return [
        arrow
        for arrow in arrows
        if not arrow.blocked and any(_both(tables, arrow.patterns) for tables in _returning(arrow, arrows))
    ]


def _returning(start: Link, arrows: Sequence[Link]) -> Iterable[frozenset[Pattern]]:
    """The tables that a replication sends and that arrive again in its master, one set for each cycle."""
    todo = [(start.ends, start.brings(one for one in start.patterns if not one.excluded))]
    seen = set()
    while todo:
        database, tables = todo.pop()
        if (database, tables) in seen or not tables:
            continue
        seen.add((database, tables))
        if database == start.begins:
            yield tables
        todo += [(arrow.ends, arrow.brings(tables)) for arrow in arrows if arrow.begins == database]


def _both(tables: Iterable[Pattern], patterns: Collection[Pattern]) -> list[Pattern]:
    """The intersection of tables or wildcards with the entries of a source."""
    ours, theirs = set(tables), {entry for entry in patterns if not entry.excluded}
    found = ours & theirs
    # Thousands may be named, and few are wildcards.
    for some, others in ((ours, theirs), (theirs, ours)):
        for wide in (one for one in some if one.wildcard):
            found |= {one for one in others if one.schema == wide.schema and one.table.startswith(wide.table)}
    known = frozenset(patterns)
    return [one for one in found if not _excluded(one, known)]


def _excluded(table: Pattern, patterns: Collection[Pattern]) -> bool:
    if not table.wildcard:
        return chosen(patterns, TableName(table.schema, table.table)) is None
    covering = (one for one in patterns if one.wildcard and one.takes(TableName(table.schema, table.table)))
    return max(covering, key=lambda one: (one.excluded, len(one.table))).excluded
