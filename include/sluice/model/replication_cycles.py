"""Replications by which what a database sends comes back to it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sluice.model.names import TableName
from sluice.model.watched import Pattern, chosen


@dataclass(frozen=True)
class Link:
    """One replication, between two databases.

    Attributes:
        begins, ends: what tells the databases apart.
        patterns: what is captured of the first.
        schemas: which of them are called otherwise in the second.
        moved: tables that are called otherwise there, by themselves.
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
        """What is wrong with one whose changes come back."""
        return (
            f"what {self.source} sends to {self.slave} would come back to it, again and again: set block_loop in every "
            "replication of that circle"
        )

    def brings(self, tables: Iterable[Pattern]) -> frozenset[Pattern]:
        """As what these tables of the first database arrive in the second; none if they are not replicated."""
        return frozenset(other for one in _both(tables, self.patterns) for other in self._arriving(one))

    def _arriving(self, one: Pattern) -> Iterator[Pattern]:
        """As what one of them arrives; of a wildcard, each table that has a name of its own as well."""
        named = TableName(one.schema, one.table)
        moved = filter(one.takes, self.moved) if one.wildcard else [named] if named in self.moved else []
        if one.wildcard or named not in self.moved:
            yield Pattern(self.schemas.get(one.schema, one.schema), one.table, one.wildcard)
        for name in moved:
            if chosen(self.patterns, name):
                yield Pattern(self.moved[name].schema, self.moved[name].table)


def unblocked_loops(arrows: Sequence[Link]) -> list[Link]:
    """Those whose changes come back to tables that they were taken from, if nothing keeps them from it."""
    return [
        arrow
        for arrow in arrows
        if not arrow.blocked and any(_both(tables, arrow.patterns) for tables in _returning(arrow, arrows))
    ]


def _returning(start: Link, arrows: Sequence[Link]) -> Iterable[frozenset[Pattern]]:
    """What arrives where the arrow begins, of what it sends."""
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
    """What tables, or wildcards, and the entries of a source have in common."""
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
