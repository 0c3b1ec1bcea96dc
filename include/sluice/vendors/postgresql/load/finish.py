"""Finishes tables after their data: keys, indexes and statistics, of several tables at the same time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from psycopg import sql

from sluice.model.names import Resources, TableName
from sluice.vendors.postgresql.capture.loop_filter import LoopFilter
from sluice.vendors.postgresql.catalog import definition, relations
from sluice.vendors.postgresql.catalog.definition import PostgresTable, identifier
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.fence import Sessions
from sluice.vendors.postgresql.load import deferred_indexes
from sluice.vendors.postgresql.session import Connection

Step = Callable[[Connection], None]


def finish(
    sessions: Sessions,
    indexes: sql.Composable,
    masters: Collection[Resources],
    tables: Mapping[TableName, PostgresTable | None],
    at_once: int,
) -> None:
    """Build what tables lack, each in a transaction of its own, and analyze all.

    Args:
        indexes: where those are written down that were put off.
        masters: see `LoopFilter`.
        tables: as they are called here; with the definition of those that we made.
        at_once: so many at the same time.
    """
    with sessions.writing("looking for indexes to come") as session:
        lacking = deferred_indexes.lacking(session, indexes)
        # What a load that broke off here has built already.
        built = relations.named(session, [name for name, made in tables.items() if made])
    steps: list[Step] = [
        partial(_build, indexes, masters, name, made, built.get(name, ()))
        for name, made in tables.items()
        if made or name in lacking
    ]
    others = [name for name, made in tables.items() if not made and name not in lacking]
    shares = [others[first::at_once] for first in range(at_once)]
    _at_once(sessions, [*steps, *(partial(_analyze, names) for names in shares if names)], at_once)


def _at_once(sessions: Sessions, steps: Sequence[Step], at_once: int) -> None:
    left = deque(steps)

    def some() -> None:
        with sessions.beside("building keys and indexes") as transaction:
            while True:
                try:
                    step = left.popleft()
                except IndexError:
                    return
                with transaction() as session:
                    step(session)

    with ThreadPoolExecutor(at_once, thread_name_prefix="finishing") as pool:
        working = [pool.submit(some) for _ in range(min(at_once, len(steps)))]
        try:
            for one in working:
                one.result()
        finally:
            # After an error no further table is begun.
            left.clear()


def _build(
    indexes: sql.Composable,
    masters: Collection[Resources],
    name: TableName,
    made: PostgresTable | None,
    built: Collection[str],
    session: Connection,
) -> None:
    loop_filter = LoopFilter(session, masters)
    session.execute("SET LOCAL maintenance_work_mem = '256MB'")
    with translated(f"building keys and indexes of {name}"):
        if made:
            for statement in definition.after_data(made, name, built):
                session.execute(statement)
        else:
            deferred_indexes.build(session, indexes, [name])
        _analyze([name], session)
    loop_filter.record([name] if made else [])
    loop_filter.remove()


def _analyze(names: Sequence[TableName], session: Connection) -> None:
    session.execute(sql.SQL("ANALYZE {}").format(sql.SQL(", ").join(map(identifier, names))))
