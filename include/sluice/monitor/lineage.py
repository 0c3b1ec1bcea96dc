"""The lineage of replications: for each table of a slave, the table of the master that its rows come from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from sluice.context import Context
from sluice.model.lineage import TablePair
from sluice.model.names import Pair, TableName
from sluice.model.watched import find_entry
from sluice.store import watched_tables
from sluice.vendors.registry import vendor


def table_pairs(
    context: Context, source: str, slaves: Iterable[str], only: Collection[TableName] = ()
) -> list[TablePair]:
    """The pairs of tables of these slaves, as the configuration has them now; no database but the store is asked.

    Args:
        only: the tables of the master that are meant, if these are not all.
    """
    patterns = context.watch_settings(source).entries
    columns = watched_tables.columns(context.store, source)
    known = watched_tables.known_tables(context.store, source)
    tables = sorted(name for name in known if find_entry(patterns, name) and (not only or name in only))
    return [
        table_pair for slave in slaves for table_pair in _pairs_of_slave(context, Pair(source, slave), tables, columns)
    ]


def _pairs_of_slave(
    context: Context, pair: Pair, tables: Iterable[TableName], columns: Mapping[TableName, Sequence[str]]
) -> Iterator[TablePair]:
    master, slave = context.config.source(pair.source), context.config.slave(pair.slave)
    origin, target = vendor(master.vendor).dataset, vendor(slave.vendor).dataset
    here, there = context.connection(master.connection), context.connection(slave.connection)
    mapper = slave.mapper
    for name in tables:
        if not mapper.excludes(name):
            called = mapper.columns(name, columns[name]) if name in columns else {}
            own = tuple((theirs, ours) for ours, theirs in called.items())
            yield TablePair(origin(here, pair, name), target(there, pair, mapper.table(name)), own)
