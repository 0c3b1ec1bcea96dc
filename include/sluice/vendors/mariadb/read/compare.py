"""A slave at a point of the stream, and the comparison of a table with its master's there (R10).

A snapshot cannot be shared among sessions here. So the session that waits for the point holds the slave's position,
which a drain would move: while it does, what any session reads is the slave exactly at the point.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pyarrow as pa
import pyarrow.compute as pc
from pymysql.cursors import SSCursor

from sluice.apply.mapping.table_view import shaped_lines
from sluice.changelog.points import PointWait
from sluice.connections import ConnectionInfo, open_sealed, salt_of
from sluice.errors import AGAIN, TransientError
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.values.copy_text import columns_of
from sluice.vendors.mariadb.catalog.tables import SlaveTable, existing, names_of, no_table
from sluice.vendors.mariadb.errors import translated
from sluice.vendors.mariadb.session import Connection, composed, connect, execute, qualified, transaction
from sluice.vendors.mariadb.types import canonical, side_by_side
from sluice.vendors.protocol.compare import Comparison
from sluice.vendors.registry import master
from sluice.verify.bucket_compare import Row, compare, values_of
from sluice.verify.difference import Difference, RowReader

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
            ((_, _, ordinal, _),) = execute(session, composed("position/share", **parts), names) or [(0, 0, 0, None)]
            if waiting.over(int(ordinal)):
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
    connections = open_sealed(job.sealed)
    salt = salt_of(connections, job.salt)
    info = connections[job.replica.connection]
    with translated(f"comparing {job.view.master.name}"), closing(connect(info, f"verify {job.slave}")) as session:
        table = existing(session, job.view.layout)
    if table is None:
        raise no_table(job.view.layout.name)
    reader = RowReader(tuple(table.names), bool(table.key), values_of, job.keeping)
    return compare(lambda: _master(job, salt, table), lambda: _replica(job, table), job.percent, reader)


def _master(job: Comparison, salt: bytes, table: SlaveTable) -> Iterator[Row]:
    view = job.view
    shape = view.shape(salt) if view.shaped else None
    info = open_sealed(job.sealed)[job.master.connection]
    with master(job.master.vendor).read(info, job.master.snapshot_id, job.master.trusted) as reading:
        for buffer in reading.table(view.master.name, view.read):
            lines = shaped_lines(view, shape, buffer, view.written)[0] if shape else buffer
            yield from _rows(table, columns_of(lines, len(view.written)))


def _replica(job: Comparison, table: SlaveTable) -> Iterator[Row]:
    info = open_sealed(job.sealed)[job.replica.connection]
    with (
        translated(f"comparing {table.name}"),
        closing(connect(info, f"verify {job.slave}")) as session,
        transaction(session),
    ):
        _expect_held(session, job)
        with session.cursor(SSCursor) as cursor:
            cursor.execute(f"SELECT {names_of(table.names)} FROM {qualified(table.name)}")
            while some := cursor.fetchmany(_FETCHED):
                values = zip(*some, strict=True)
                yield from _rows(table, [canonical(one, side) for one, side in zip(table.columns, values, strict=True)])
        _expect_held(session, job)


def _expect_held(session: Connection, job: Comparison) -> None:
    """See that the session which holds the slave at the point is there. Raises TransientError SLC-440."""
    holder = {"holder": int(job.replica.snapshot_id)}
    if not execute(session, "SELECT id FROM information_schema.processlist WHERE id = %(holder)s", holder):
        raise TransientError(
            440,
            f"the session that held slave {job.slave} at the point has ended",
            f"nothing is lost, {AGAIN}; look in the log of that server who ended it",
        )


def _rows(table: SlaveTable, columns: list[pa.Array]) -> Iterator[Row]:
    images = _tokens(columns).to_pylist()
    place = {name: index for index, name in enumerate(table.names)}
    keys = _tokens([columns[place[name]] for name in table.key]).to_pylist() if table.key else images
    return ((key, image, 1) for key, image in zip(keys, images, strict=True))


def _tokens(columns: list[pa.Array]) -> pa.Array:
    """For each row bytes that are equal where its values are."""
    cells = [pc.fill_null(pc.replace_substring(one.cast(pa.large_string()), "\\", "\\\\"), "\\N") for one in columns]
    joined = side_by_side(*(pc.replace_substring(cell, "\t", "\\t") for cell in cells), between="\t")
    return pc.cast(joined, pa.large_binary())
