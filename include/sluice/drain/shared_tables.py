"""Tables of a slave with rows of several replications: finds them, and checks that none removes rows of others.

Tables are compared by the slave's names. For wildcards the control store has the tables of each source.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial

from sluice.config.mapper import Mapper
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.model.action import FilledRows
from sluice.model.names import Pair, TableName
from sluice.model.watched import Pattern, find_entry
from sluice.store.watched_tables import known_tables
from sluice.vendors.registry import vendor

Known = Callable[[str], Collection[TableName]]


@dataclass(frozen=True)
class _Feed:
    """A replication with ids of its two databases, the entries of watched tables, and the slave's mapping."""

    pair: Pair
    begins: str
    ends: str
    patterns: Collection[Pattern]
    mapper: Mapper

    def master_tables(self, slave_table: TableName) -> Iterator[tuple[TableName, Pattern]]:
        """Names of the master that are mapped to this table, whether they exist or not, each with its entry."""
        schemas = {
            slave_table.schema,
            *(ours for ours, theirs in self.mapper.schemas.items() if theirs == slave_table.schema),
        }
        names = {TableName(schema, slave_table.table) for schema in schemas}
        names |= {name for name, called in self.mapper.renamed_tables.items() if called == slave_table}
        for name in sorted(names):
            if self.mapper.excludes(name) or self.mapper.table(name) != slave_table:
                continue
            if pattern := find_entry(self.patterns, name):
                yield name, pattern

    def may_bring_into(self, schema: str) -> bool:
        """Whether any of its tables is mapped to the schema."""
        named = {called for name, called in self.mapper.renamed_tables.items() if find_entry(self.patterns, name)}
        whole = {self.mapper.schema(pattern.schema) for pattern in self.patterns if not pattern.excluded}
        return schema in whole | {name.schema for name in named}


def others(context: Context, pair: Pair, slave_table: TableName, known: Known | None = None) -> list[str]:
    """Tables of other replications whose rows are in a slave's table that this one fills, as texts.

    Rows that this replication has as well, because its master has them from the other one (both directions), do not
    count.

    Args:
        slave_table: the slave's name of the table.
        known: the tables of a source; by default the recorded ones.
    """
    if not vendor(context.config.slave(pair.slave).vendor).master:
        # In a directory each replication has one of its own.
        return []
    feeds = list(_feeds(context))
    ours = next(feed for feed in feeds if feed.pair == pair)
    return [
        f"{name} of {other.pair.source}"
        for other, name in _beside(feeds, ours, slave_table, known or partial(known_tables, context.store))
        if not _has_all_rows(feeds, ours, slave_table, other, name)
    ]


def beside(context: Context, pair: Pair, slave_table: TableName) -> list[tuple[Pair, TableName]]:
    """All other replications into a slave's table, each with its master's table.

    Also those of rows that this one has as well: they may bring them earlier, or later.
    """
    feeds = list(_feeds(context))
    ours = next(feed for feed in feeds if feed.pair == pair)
    return [
        (other.pair, name) for other, name in _beside(feeds, ours, slave_table, partial(known_tables, context.store))
    ]


@dataclass(frozen=True, order=True)
class ThirdDatabase:
    """A database that sends a table to a slave, and to the slave's master, which does not hand it on.

    Attributes:
        to_slave, to_master: the replications.
        table: as it is called there.
    """

    to_slave: Pair
    to_master: Pair
    table: TableName

    @property
    def ways(self) -> tuple[Pair, Pair]:
        """Both replications."""
        return self.to_slave, self.to_master


def third_databases(context: Context, pair: Pair, slave_tables: Iterable[TableName]) -> list[ThirdDatabase]:
    """The other databases that send tables of this replication's slave there, and to its master."""
    if not vendor(context.config.slave(pair.slave).vendor).master:
        # In a directory each replication has one of its own.
        return []
    feeds, known = list(_feeds(context)), cache(partial(known_tables, context.store))
    ours = next(feed for feed in feeds if feed.pair == pair)
    into_master = [
        feed
        for feed in feeds
        if feed.ends == ours.begins != feed.begins
        and context.config.replication(feed.pair.source, feed.pair.slave).block_loop
    ]
    return sorted(
        ThirdDatabase(other.pair, feed.pair, name)
        for slave_table in (slave_tables if into_master else ())
        for other, name in _beside(feeds, ours, slave_table, known)
        for feed in into_master
        if feed.begins == other.begins
        and any(name == its for own, _ in ours.master_tables(slave_table) for its, _ in feed.master_tables(own))
    )


def expect_kept(context: Context, pair: Pair, tables: Iterable[TableName], known: Known | None = None) -> list[str]:
    """Check that an initial update of these tables of a master removes no rows of other replications.

    Returns:
        warnings about tables with such rows, which stay.

    Raises:
        SluiceError: SLC-230, it would remove some; nothing was changed.
    """
    mapper, wiped = context.config.slave(pair.slave).mapper, context.config.slave(pair.slave).wipe_out
    lost: list[str] = []
    kept: list[str] = []
    known = cache(known or partial(known_tables, context.store))
    for name in (table for table in tables if not mapper.excludes(table)):
        if owners := others(context, pair, slave_table := mapper.table(name), known):
            stays = mapper.existing_rows(name) is FilledRows.MERGE
            (kept if stays else lost).append(f"{slave_table} ({', '.join(owners)})")
    if wiped and wiped.tables:
        ends = context.database_id(context.config.slave(pair.slave).connection)
        fed = (feed for feed in _feeds(context) if feed.ends == ends and feed.pair != pair)
        lost += [
            f"all of {wiped.schema_}, by `wipe_out` ({feed.pair})" for feed in fed if feed.may_bring_into(wiped.schema_)
        ]
    if lost:
        raise SluiceError(
            230,
            f"an initial update of {pair} would take rows that others bring: {'; '.join(lost)}",
            "nothing was changed; set `on_existing_rows: merge` for these tables, or keep them apart: by one entry of "
            "`slaves` for each source, with other names, and without `wipe_out`",
        )
    return [f"{table}: rows of others are in there, so a TRUNCATE stops the slave" for table in kept]


def _feeds(context: Context) -> Iterator[_Feed]:
    for replication in context.config.replications:
        source, slave = context.config.source(replication.source), context.config.slave(replication.slave)
        ends = context.database_id(source.connection), context.database_id(slave.connection)
        yield _Feed(Pair(replication.source, replication.slave), *ends, source.patterns, slave.mapper)


def _beside(
    feeds: Iterable[_Feed], ours: _Feed, slave_table: TableName, known: Known
) -> Iterator[tuple[_Feed, TableName]]:
    """The other replications into a slave's table, with each table that they bring there and that exists."""
    for other in feeds:
        if other.pair != ours.pair and other.ends == ours.ends:
            for name, by in other.master_tables(slave_table):
                if not (by.wildcard and name not in known(other.pair.source)):
                    yield other, name


def _has_all_rows(feeds: Iterable[_Feed], ours: _Feed, slave_table: TableName, other: _Feed, name: TableName) -> bool:
    """Whether a replication has all rows of another one in a table, because its master has them, too."""
    for own, _ in ours.master_tables(slave_table):
        same = other.begins == ours.begins and own == name
        sent = any(
            feed.begins == other.begins
            and feed.ends == ours.begins
            and feed.mapper.table(name) == own
            and find_entry(feed.patterns, name)
            and feed.mapper.complete(name)
            for feed in feeds
        )
        alike = other.pair.slave == ours.pair.slave and ours.mapper.same_rows(own, name)
        if (same or sent) and (alike or ours.mapper.complete(own)):
            return True
    return False
