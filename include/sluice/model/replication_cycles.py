"""Cycles of replications: changes that come back to the database that sent them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sluice.model.names import TableName
from sluice.model.watched import Pattern, find_entry


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
        return frozenset(other for pattern in _both(tables, self.patterns) for other in self._arrivals(pattern))

    def _arrivals(self, pattern: Pattern) -> Iterator[Pattern]:
        """The names under which one entry arrives; for a wildcard also those of tables with a mapping of their own."""
        named = TableName(pattern.schema, pattern.table)
        moved = filter(pattern.takes, self.moved) if pattern.wildcard else [named] if named in self.moved else []
        if pattern.wildcard or named not in self.moved:
            yield Pattern(self.schemas.get(pattern.schema, pattern.schema), pattern.table, pattern.wildcard)
        for name in moved:
            if find_entry(self.patterns, name):
                yield Pattern(self.moved[name].schema, self.moved[name].table)


def unblocked_loops(arrows: Sequence[Link]) -> list[Link]:
    """The replications without a loop filter whose changes come back to the tables that they came from."""
    return [
        arrow
        for arrow in arrows
        if not arrow.blocked and any(_both(tables, arrow.patterns) for tables in _returned_tables(arrow, arrows))
    ]


def _returned_tables(start: Link, arrows: Sequence[Link]) -> Iterable[frozenset[Pattern]]:
    """The tables that a replication sends and that arrive again in its master, one set for each cycle."""
    todo = [(start.ends, start.brings(pattern for pattern in start.patterns if not pattern.excluded))]
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
    both = ours & theirs
    # Thousands may be named, and few are wildcards.
    for some, others in ((ours, theirs), (theirs, ours)):
        for wide in (pattern for pattern in some if pattern.wildcard):
            both |= {
                pattern for pattern in others if pattern.schema == wide.schema and pattern.table.startswith(wide.table)
            }
    known = frozenset(patterns)
    return [pattern for pattern in both if not _is_excluded(pattern, known)]


def _is_excluded(table: Pattern, patterns: Collection[Pattern]) -> bool:
    if not table.wildcard:
        return find_entry(patterns, TableName(table.schema, table.table)) is None
    covering = (
        pattern for pattern in patterns if pattern.wildcard and pattern.takes(TableName(table.schema, table.table))
    )
    return max(covering, key=lambda pattern: (pattern.excluded, len(pattern.table))).excluded
