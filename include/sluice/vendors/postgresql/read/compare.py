"""The two sides of a comparison: snapshots at one point, and their rows as sorted texts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from psycopg import errors, sql

from sluice.apply.mapping.table_view import shape_lines
from sluice.changelog.points import PointWait
from sluice.connections import ConnectionInfo, find_salt, open_sealed
from sluice.errors import TransientError
from sluice.model.key_choice import NUMBER
from sluice.model.key_range import Bound
from sluice.model.key_sample import KeySample
from sluice.model.layout import Layout
from sluice.model.names import Pair, TableName
from sluice.model.position import Position
from sluice.values.copy_text import columns_of, lines_of
from sluice.vendors.postgresql import planned_code
from sluice.vendors.postgresql.catalog import definition, relations
from sluice.vendors.postgresql.catalog.definition import identifier, listed, regclass
from sluice.vendors.postgresql.ddl.owners import expect_trusted_now
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.ownership import session_on_slave
from sluice.vendors.postgresql.read.checksums import ChecksumSide, compare_ranges, ranged_column, sampled
from sluice.vendors.postgresql.read.copy_out import BUFFER_BYTES, CopyOut
from sluice.vendors.postgresql.read.digested_columns import DigestedColumns, bucket_sums
from sluice.vendors.postgresql.read.given_keys import compare_given
from sluice.vendors.postgresql.read.key_range import among, among_ranges
from sluice.vendors.postgresql.read.record_text import values_of
from sluice.vendors.postgresql.session import (
    Connection,
    composed,
    connect,
    exported,
    limit_lock_waits,
    plain_id,
    read_as_of,
    read_tables_alone,
)
from sluice.vendors.protocol.compare import Comparison, KeyColumnRange, key_choice, not_by_keys, sorted_otherwise
from sluice.vendors.protocol.digests import BucketSum, Digested
from sluice.vendors.protocol.read import Key
from sluice.vendors.registry import master
from sluice.vendors.text_compare import added, agreed, chosen, differing, master_digests
from sluice.verify.difference import Difference, RowReader
from sluice.verify.merge_compare import compare, count_if_equal

_EXPECTED = TableName("pg_temp", "sluice_expected")
_ALL = sql.SQL("true")
# What a server says of names that were dropped or renamed meanwhile.
UNKNOWN = (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedObject, errors.InvalidSchemaName)


def shape(
    info: ConnectionInfo, parts: Mapping[str, sql.Composable], snapshot_id: str, name: TableName
) -> Layout | None:
    """The columns of a master's table and its key, as a snapshot shows them; None if it is not watched there."""
    with translated("reading the catalog"), reading(info, snapshot_id) as session:
        if session.execute(composed("read/compare/watched", **parts), vars(name)).fetchone() is None:
            return None
        with overtaken((session, Layout(0, name, ()))):
            return definition.read(session, name).layout


@contextmanager
def aligned(
    info: ConnectionInfo,
    pair: Pair,
    schema: str,
    parts: Mapping[str, sql.Composable],
    at: Position,
    patience_s: float,
) -> Iterator[str]:
    """A snapshot of the slave exactly at a point of the stream, held open; its id, to import.

    Raises:
        TransientError: SLC-091 if the slave does not arrive there in time, SLC-092 if it is beyond.
    """
    waiting = PointWait(pair, at, patience_s)
    names = {"source": pair.source, "slave": pair.slave}
    # Closed, not ended: there is nothing to commit, nor anything to say of a session that was lost over what was read.
    with translated("reading the slave"), closing(session_on_slave(info, "verify", schema)) as session:
        while True:
            session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            row = session.execute(composed("position/position", **parts), names).fetchone()
            if waiting.has_arrived(int(row[1]) if row else 0):
                yield exported(session)[0]
                return
            session.execute("ROLLBACK")
            time.sleep(0.2)


def compare_table(job: Comparison) -> Difference:
    """Compare one table, streaming both sides. Raises SluiceError if one of them cannot be read."""
    connections = open_sealed(job.sealed)
    expect_trusted_now(connections[job.replica.connection], [job.view.layout.name], job.replica.adopted)
    if job.master.vendor != job.replica.vendor:
        return _compare_with_another(job, connections)
    with (
        translated(f"comparing {job.view.master.name}"),
        reading(connections[job.master.connection], job.master.snapshot_id) as master,
        reading(connections[job.replica.connection], job.replica.snapshot_id, job.master.snapshot_id) as replica,
        overtaken((master, job.view.ours), (replica, job.view.layout)),
        _shown(master, job.view.master.name),
        _shown(replica, job.view.layout.name),
    ):
        read_tables_alone(master)
        planned_code.expect_none_now(connections[job.master.connection], [job.view.master.name], job.master.trusted)
        if job.only:
            return compare_given(job, partial(_given, job, connections, master, replica), row_reader(job))
        if job.view.is_shaped:
            out = composed(
                "read/compare/unsorted",
                columns=listed(job.view.read_columns),
                rows=relations.rows_of(master, job.view.master.name),
            )
            with _expected(job, connections, CopyOut(master, out, BUFFER_BYTES)) as expected:
                ours = _rows("read/compare/rows", expected, replace(job.view.layout, name=_EXPECTED), job.sample)
                theirs = _rows("read/compare/rows", replica, job.view.layout, job.sample)
                return _compared(job, expected, ours, replica, theirs)
        ours_summed, theirs_summed = (
            ChecksumSide(session, layout, job.sample, job.seeds, job.keys)
            for session, layout in ((master, job.view.ours), (replica, job.view.layout))
        )
        if within := _ranged(job, ours_summed, theirs_summed):
            return compare_ranges(within, ours_summed, theirs_summed, row_reader(job))
        sides = ((master, job.view.ours), (replica, job.view.layout))
        # The names of a key's columns are others on each side.
        among = [among_ranges(layout.key_names, job.keys) for _, layout in sides]
        if job.view.layout.key:
            ours, theirs = (
                _rows("read/compare/rows_by_key", *side, job.sample, within)
                for side, within in zip(sides, among, strict=True)
            )
            with master.cursor().copy(ours) as one, replica.cursor().copy(theirs) as other:
                if (same := count_if_equal(map(bytes, one), map(bytes, other))) is not None:
                    count, size = same
                    return Difference(compared=count, moved=2 * size, size=2 * size)
        ours, theirs = (
            _rows("read/compare/rows", *side, job.sample, within) for side, within in zip(sides, among, strict=True)
        )
        return _compared(job, master, ours, replica, theirs)


@contextmanager
def _given(
    job: Comparison,
    connections: Mapping[str, ConnectionInfo],
    master: Connection,
    replica: Connection,
    some: Sequence[Key],
) -> Iterator[tuple[Iterator[bytes], Iterator[bytes]]]:
    """The lines of both sides for rows of some keys."""
    assert job.only is not None
    layout, within = job.view.layout, among(job.only.columns, some)
    with ExitStack() as stack:
        if job.view.is_shaped:
            rows = relations.rows_of(master, job.view.master.name)
            out = composed("read/rows", columns=listed(job.view.read_columns), rows=rows, within=within)
            session = stack.enter_context(_expected(job, connections, CopyOut(master, out, BUFFER_BYTES)))
            ours = _rows("read/compare/rows", session, replace(layout, name=_EXPECTED), KeySample())
        else:
            session, ours = master, _rows("read/compare/rows", master, job.view.ours, KeySample(), within)
        theirs = _rows("read/compare/rows", replica, layout, KeySample(), among(layout.key_names, some))
        one = stack.enter_context(session.cursor().copy(ours))
        other = stack.enter_context(replica.cursor().copy(theirs))
        yield map(bytes, one), map(bytes, other)


def _ranged(job: Comparison, ours: ChecksumSide, theirs: ChecksumSide) -> KeyColumnRange | None:
    """The range to compare by checksums; None if there can be none. Raises TransientError SLC-095."""
    if job.within is None:
        column = ranged_column(job, ours, theirs)
        return None if column is None else KeyColumnRange(column, None, None)
    if job.within.sorting is not None and any(
        side.sorting(job.within.column) != job.within.sorting for side in (ours, theirs)
    ):
        # It may have been cut by an earlier try, whose other ranges are not compared again.
        raise sorted_otherwise(job)
    return job.within


def _compared(
    job: Comparison, master: Connection, ours: sql.Composed, replica: Connection, theirs: sql.Composed
) -> Difference:
    with master.cursor().copy(ours) as one, replica.cursor().copy(theirs) as other:
        found = compare(map(bytes, one), map(bytes, other), row_reader(job))
    found.size = found.moved
    if found.more:
        found.note_range((None, None))
    return found


def row_reader(job: Comparison) -> RowReader:
    """Reads the rows that differ out of their texts."""
    layout = job.view.layout
    return RowReader(tuple(column.name for column in layout.columns), bool(layout.key), values_of, job.keeping)


class _Slave:
    """See `sluice.vendors.protocol.digests.Summed`."""

    def __init__(self, session: Connection, layout: Layout) -> None:
        self._session, self._name = session, layout.name
        found = session.execute(composed("read/compare/column_types"), {"relation": regclass(layout.name)}).fetchall()
        types = {column: kind for column, kind, _ in found}
        self.columns = DigestedColumns([column.name for column in layout.columns], types)

    @property
    def plain(self) -> Sequence[bool] | None:
        """See there."""
        return self.columns.plain if self._session.info.parameter_status("server_encoding") == "UTF8" else None

    def sums(self, how: Digested) -> tuple[Mapping[str, BucketSum], int]:
        """See there."""
        rows = relations.rows_of(self._session, self._name)
        return bucket_sums(self._session.execute(self.columns.sums(how, rows)).fetchall())


def _compare_with_another(job: Comparison, connections: Mapping[str, ConnectionInfo]) -> Difference:
    """Compare with a master of another vendor, whose rows come as texts, in no order."""
    with (
        translated(f"comparing {job.view.master.name}"),
        reading(connections[job.replica.connection], job.replica.snapshot_id) as replica,
        overtaken((replica, job.view.layout)),
        _shown(replica, job.view.layout.name),
    ):
        with master_digests(job) as ours:
            slave = _Slave(replica, job.view.layout) if ours else None
            if ours and slave and (how := agreed(job, job.view.layout.key, ours, slave)):
                differ, alike = differing(how, ours, slave)
                if not differ:
                    return alike
                lines = (lines_of(list(piece)) for piece in ours.rows(how, differ))
                within = slave.columns.among(how, differ)
                return added(alike, _compare_texts(job, connections, lines, replica, within))
        info = connections[job.master.connection]
        with master(job.master.vendor).read(info, job.master.snapshot_id, job.master.trusted) as rows:
            everything = rows.table(job.view.master.name, job.view.read_columns)
            if job.keys:
                return _compare_texts(job, connections, _within_ranges(job, everything), replica, _ranges(job, replica))
            return _compare_texts(job, connections, everything, replica, _ALL)


def _within_ranges(job: Comparison, rows: Iterable[bytes]) -> Iterator[bytes]:
    names = job.view.read_columns
    pieces = (columns_of(buffer, len(names)) for buffer in rows)
    key = [names.index(name) for name in job.view.ours.key_names]
    return (lines_of(list(piece)) for piece in chosen(pieces, key, key_choice(job)))


# Types of a slave's key whose order is that of the master's numbers and days.
_ORDERED = {"int2", "int4", "int8", "numeric", "date"}


def _ranges(job: Comparison, replica: Connection) -> sql.Composable:
    """The condition for the slave's rows of the ranges of keys. Raises SluiceError SLC-622."""
    layout, kinds = job.view.layout, key_choice(job).kinds
    found = replica.execute(composed("read/compare/column_types"), {"relation": regclass(layout.name)}).fetchall()
    types = {column: (kind, has_values) for column, kind, has_values in found}
    for name in layout.key_names[: len(kinds)]:
        kind, has_values = types[name]
        if kind not in _ORDERED or not has_values:
            raise not_by_keys(job, f"its key {name} may be sorted otherwise there, or be NULL")
    ranges = [replace(one, first=_said(one.first, kinds), until=_said(one.until, kinds)) for one in job.keys]
    return among_ranges(layout.key_names, ranges)


def _said(bound: Bound | None, kinds: Sequence[str]) -> Any:
    """A bound whose numbers are numbers: one that is too large for the column's type is greater than its values."""
    return bound and tuple(int(text) if kind == NUMBER else text for kind, text in zip(kinds, bound, strict=False))


def _compare_texts(
    job: Comparison,
    connections: Mapping[str, ConnectionInfo],
    rows: Iterable[bytes],
    replica: Connection,
    within: sql.Composable,
) -> Difference:
    """Compare the master's rows with those of the slave for which a condition holds."""
    with _expected(job, connections, rows) as expected:
        ours = _rows("read/compare/rows", expected, replace(job.view.layout, name=_EXPECTED), job.sample)
        theirs = _rows("read/compare/rows", replica, job.view.layout, job.sample, within)
        return _compared(job, expected, ours, replica, theirs)


@contextmanager
def _expected(
    job: Comparison, connections: Mapping[str, ConnectionInfo], rows: Iterable[bytes]
) -> Iterator[Connection]:
    """A session of the slave with a table of the rows that it should have: what its view makes of the master's.

    So they are sorted as its own are, and values are spelled as its types spell them.
    """
    shape = job.view.shape(find_salt(connections, job.salt)) if job.view.is_shaped else None
    names = [column.name for column in job.view.layout.columns] if shape else list(job.view.written_columns)
    column_list = listed(names)
    with connect(connections[job.replica.connection], "verify", autocommit=True) as session:
        parts = {"expected": identifier(_EXPECTED), "table": identifier(job.view.layout.name), "columns": column_list}
        session.execute("SET work_mem = '64MB'")
        session.execute(composed("read/compare/expected", **parts))
        into = composed("load/copy_in", table=identifier(_EXPECTED), columns=column_list, format=sql.SQL("text"))
        with session.cursor().copy(into) as copy:
            for buffer in rows:
                copy.write(shape_lines(job.view, shape, buffer, names)[0] if shape else buffer)
        yield session


def keep_shape(session: Connection, table: TableName) -> None:
    """Lock a table against rewrites and renames while it is read; see `expect_shown`."""
    limit_lock_waits(session, "3s")
    planned_code.lock_table(session, table)
    expect_shown(session, table)


def expect_shown(session: Connection, table: TableName) -> None:
    """See that a table's rows are those of the session's snapshot; also behind them, since no lock keeps partitions
    from being attached, or schemas from being renamed.

    Raises:
        TransientError: SLC-095, they may be others.
    """
    names = {"schema": table.schema, "table": table.table, "relation": regclass(table)}
    row = session.execute(composed("read/compare/rewritten"), names).fetchone()
    if row is None or row[0]:
        raise others(table)


def others(table: TableName | str) -> TransientError:
    """A table's rows may be others than those that a snapshot shows."""
    return TransientError(
        95,
        f"{table} was rewritten or truncated while it was read, it or a column was dropped or renamed, another table "
        "got its name, or it got or lost partitions",
        "trigger the run again, if it is not tried again by itself; nothing was changed. If that goes on, end a "
        "DETACH CONCURRENTLY that broke off by ALTER TABLE ... DETACH PARTITION ... FINALIZE",
    )


@contextmanager
def overtaken(*sides: tuple[Connection, Layout]) -> Iterator[None]:
    """Tell a table or column that is gone since the snapshots of these sessions from one that never was there.

    Raises:
        TransientError: SLC-095, all were there.
    """
    were = all(_had(session, layout) for session, layout in sides)
    try:
        yield
    except UNKNOWN as error:
        if were:
            raise others(sides[0][1].name) from error
        raise


def _had(session: Connection, layout: Layout) -> bool:
    """Whether a session's snapshot shows a table with these columns."""
    there = {column.name for column in relations.columns(session, layout.name)}
    return bool(there) and there >= {column.name for column in layout.columns}


@contextmanager
def _shown(session: Connection, table: TableName) -> Iterator[None]:
    """Read a table, as the session's snapshot shows it."""
    keep_shape(session, table)
    yield
    expect_shown(session, table)


def _rows(
    name: str, session: Connection, layout: Layout, sample: KeySample, within: sql.Composable = _ALL
) -> sql.Composed:
    columns = [sql.Identifier(column.name) for column in layout.columns]
    return composed(
        name,
        key=sql.SQL(", ").join([columns[index] for index in layout.key] or columns),
        columns=sql.SQL(", ").join(columns),
        rows=relations.rows_of(session, layout.name),
        within=within,
        **sampled(sample),
    )


@contextmanager
def reading(info: ConnectionInfo, snapshot_id: str, named_after: str | None = None) -> Iterator[Connection]:
    """Read a snapshot, in a session that is named after it, or after the master's of the same point."""
    with connect(info, f"verify {plain_id(named_after or snapshot_id)}", autocommit=True) as session:
        session.execute("SET work_mem = '64MB'")
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        read_as_of(session, snapshot_id)
        yield session
