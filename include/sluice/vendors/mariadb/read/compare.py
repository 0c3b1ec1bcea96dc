"""A slave at a point of the stream, and the comparison of a table with its master's there (R10).

A snapshot cannot be shared among sessions here. So the session that waits for the point holds the slave's position,
which a drain would move: while it does, what any session reads is the slave exactly at the point.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from pymysql.cursors import SSCursor

from sluice.changelog.points import PointWait
from sluice.connections import ConnectionInfo, open_sealed
from sluice.errors import AGAIN, TransientError
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.vendors.mariadb import fence
from sluice.vendors.mariadb.catalog.tables import SlaveTable, existing, names_of, no_table
from sluice.vendors.mariadb.errors import translated
from sluice.vendors.mariadb.read.digests import MariaDigests
from sluice.vendors.mariadb.session import Connection, Row, composed, connect, execute, qualified, transaction
from sluice.vendors.mariadb.types import canonical
from sluice.vendors.protocol.compare import Comparison
from sluice.vendors.protocol.digests import Texts
from sluice.vendors.text_compare import compare_texts
from sluice.verify.difference import Difference

_LOOK_S = 0.2
_FETCHED = 10_000


@contextmanager
def aligned(info: ConnectionInfo, parts: dict[str, str], pair: Pair, at: Position, patience_s: float) -> Iterator[str]:
    """Hold a slave at a point; the id says which session does."""
    waiting = PointWait(pair, at, patience_s)
    names = {"source": pair.source, "slave": pair.slave}
    with translated(f"waiting for {pair.slave}"), closing(connect(info, f"verify {pair}")) as session:
        while True:
            session.begin()
            if fence.arrived(session, parts, pair, waiting, "position/share"):
                break
            session.rollback()
            time.sleep(_LOOK_S)
        try:
            yield str(session.thread_id())
            # If it has ended meanwhile, the slave was not held to the end.
            execute(session, composed("position/share", **parts), names)
        finally:
            if session.open:
                session.rollback()


def compare_table(job: Comparison) -> Difference:
    """Compare one table, streaming both sides. Raises SluiceError if one of them cannot be read."""
    info = open_sealed(job.sealed)[job.replica.connection]
    with translated(f"comparing {job.view.master.name}"), closing(connect(info, f"verify {job.slave}")) as session:
        table = existing(session, job.view.layout)
    if table is None:
        raise no_table(job.view.layout.name)

    def answer(statement: str) -> list[Row]:
        with _held(job, table) as session:
            return execute(session, statement)

    digests = MariaDigests(table, answer, lambda condition: _replica(job, table, condition))
    return compare_texts(job, table.names, table.key, lambda: _replica(job, table), digests)


def _replica(job: Comparison, table: SlaveTable, condition: str = "TRUE") -> Texts:
    with _held(job, table) as session, session.cursor(SSCursor) as cursor:
        cursor.execute(f"SELECT {names_of(table.names)} FROM {qualified(table.name)} WHERE {condition}")
        while some := cursor.fetchmany(_FETCHED):
            values = zip(*some, strict=True)
            yield [canonical(one, side) for one, side in zip(table.columns, values, strict=True)]


@contextmanager
def _held(job: Comparison, table: SlaveTable) -> Iterator[Connection]:
    """A session in a transaction that reads the slave at the point."""
    info = open_sealed(job.sealed)[job.replica.connection]
    with (
        translated(f"comparing {table.name}"),
        closing(connect(info, f"verify {job.slave}")) as session,
        transaction(session),
    ):
        _expect_held(session, job)
        yield session
        _expect_held(session, job)


def _expect_held(session: Connection, job: Comparison) -> None:
    """See that the session which holds the slave at the point is there. Raises TransientError SLC-083."""
    holder = {"holder": int(job.replica.snapshot_id)}
    if not execute(session, "SELECT id FROM information_schema.processlist WHERE id = %(holder)s", holder):
        raise TransientError(
            83,
            f"the session that held slave {job.slave} at the point has ended",
            f"nothing is lost, {AGAIN}; look in the log of that server who ended it",
        )
