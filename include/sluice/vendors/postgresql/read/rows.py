"""The master's rows as an exported snapshot shows them: what a dump and a comparison take to slaves of any kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.vendors.postgresql import planned_code
from sluice.vendors.postgresql.catalog import definition, relations
from sluice.vendors.postgresql.catalog.definition import identifier, listed, regclass
from sluice.vendors.postgresql.copy_formats import copy_format
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.read.compare import UNKNOWN, expect_shown, keep_shape, others
from sluice.vendors.postgresql.read.copy_out import BUFFER_BYTES, CopyOut
from sluice.vendors.postgresql.read.key_range import among, between, keys
from sluice.vendors.postgresql.session import Connection, composed, connect, plain_id, read_as_of, read_tables_alone
from sluice.vendors.protocol.read import Chunk, Key, KeyRange, RowFormat, another_key

LOCK_TIMEOUT = "3s"
Row = tuple[Any, ...]


class PostgresReading:
    """See `sluice.vendors.protocol.load.Reading`. A table is unlocked as soon as its rows were read."""

    keyed_by_text = False

    def __init__(self, session: Connection, beside: Connection, trusted: Collection[str]) -> None:
        self._session = session
        self._beside = beside
        self._trusted = trusted

    def chunk(self, chunk: Chunk, columns: Sequence[str], form: RowFormat) -> CopyOut:
        """The rows of a chunk."""
        self._begin(chunk.leaf.relation)
        # A column tells the lower half of a transaction's number.
        since = sql.Literal(str(int(chunk.since) % 2**32)) if chunk.since is not None else None
        out = composed(
            "read/copy_out",
            columns=listed(columns),
            relation=identifier(chunk.leaf.relation),
            low=sql.Literal(f"({chunk.low},0)"),
            high=sql.Literal(f"({chunk.high if chunk.high is not None else 2**32 - 2},0)"),
            newer=composed("read/newer", since=since) if since else sql.SQL("true"),
            format=copy_format(form),
        )
        return self._rows(out, chunk.leaf.relation)

    def table(self, name: TableName, columns: Sequence[str]) -> CopyOut:
        """Every row of a table, in the text format, in no order."""
        self._begin(name)
        rows = relations.rows_of(self._session, name)
        return self._rows(composed("read/compare/unsorted", columns=listed(columns), rows=rows), name)

    def keyed(self, name: TableName, columns: Sequence[str], key: Sequence[str], wanted: Sequence[Key]) -> CopyOut:
        """The rows of these keys, in the text format."""
        self._begin(name)
        rows = relations.rows_of(self._session, name)
        out = composed("read/rows", columns=listed(columns), rows=rows, within=among(key, wanted))
        return self._rows(out, name)

    def within(self, name: TableName, columns: Sequence[str], condition: sql.Composable) -> CopyOut:
        """The rows for which a condition holds, in the text format."""
        self._begin(name)
        rows = relations.rows_of(self._session, name)
        return self._rows(composed("read/rows", columns=listed(columns), rows=rows, within=condition), name)

    def asked(self, name: TableName, statement: Callable[[sql.Composable], sql.Composed]) -> list[Row]:
        """The answer to a statement about all rows of a table, which is given the text that stands for them."""
        self._begin(name)
        found = self._session.execute(statement(relations.rows_of(self._session, name))).fetchall()
        self._end(name)
        return found

    def types(self, name: TableName) -> Mapping[str, str | None]:
        """The types of a table's columns by their names, as far as they are the server's own."""
        self._begin(name)
        found = self._session.execute(composed("read/compare/column_types"), {"relation": regclass(name)}).fetchall()
        self._end(name)
        return {column: kind for column, kind, _ in found}

    @property
    def is_utf8(self) -> bool:
        """Whether the server keeps texts in UTF-8."""
        return self._session.info.parameter_status("server_encoding") == "UTF8"

    def shape(self, within: KeyRange) -> Layout | None:
        """The columns of a range's table and its key, under the name that it has by now; None if it was dropped."""
        if (called := relations.called(self._session, within.order)) is None:
            return None
        with _as_shown(called):
            found = definition.several(self._session, [called])
        if not found:
            raise others(called)
        return found[0].layout

    def block(self, within: KeyRange, columns: Sequence[str], rows: int) -> tuple[CopyOut, Key | None]:
        """The next rows of a range, in the text format; with the key of the last, None if no more follow."""
        self._begin(within.table)
        order = relations.order(self._session, within.table)
        if order is None or order.sign != within.order:
            raise another_key(within.table)
        from_ = {"key": listed(order.columns), "rows": relations.rows_of(self._session, within.table)}
        left = between(order.columns, within)
        end = composed("read/end", **from_, within=left, before=sql.Literal(rows - 1))
        last = next(iter(keys(self._session.execute(end))), None)
        asked = between(order.columns, within, last)
        out = composed("read/rows", columns=listed(columns), rows=from_["rows"], within=asked)
        return self._rows(out, within.table), last

    def _begin(self, table: TableName) -> None:
        self._session.execute("SAVEPOINT reading")
        with _as_shown(table):
            keep_shape(self._session, table)
        # Asked beside it: the snapshot does not show what somebody has made since, and a plan would run.
        planned_code.expect_none(self._beside, [table], self._trusted)

    def _rows(self, out: sql.Composed, table: TableName) -> CopyOut:
        return CopyOut(self._session, out, BUFFER_BYTES, lambda: self._end(table))

    def _end(self, table: TableName) -> None:
        expect_shown(self._session, table)
        self._session.execute("ROLLBACK TO SAVEPOINT reading")
        self._session.execute("RELEASE SAVEPOINT reading")


@contextmanager
def _as_shown(table: TableName) -> Iterator[None]:
    """Translate the error for a table of the snapshot that was dropped or renamed into one that is tried again."""
    try:
        yield
    except UNKNOWN:
        raise others(table) from None


@contextmanager
def reading(info: ConnectionInfo, snapshot_id: str, trusted: Collection[str] = ()) -> Iterator[PostgresReading]:
    """A session on the source that sees what an exported snapshot shows.

    Args:
        trusted: roles whose functions may run with our rights.

    Raises:
        TransientError: SLC-083, the snapshot is gone (R5).
    """
    with (
        translated("reading a chunk"),
        connect(info, "check", autocommit=True) as beside,
        connect(info, f"dump {plain_id(snapshot_id)}", autocommit=True) as session,
    ):
        # DDL that waits for the dump's lock makes us wait for itself, and the dump waits for us: give way to it.
        session.execute(sql.SQL("SET lock_timeout = {}").format(LOCK_TIMEOUT))
        read_tables_alone(session)
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        read_as_of(session, snapshot_id)
        try:
            yield PostgresReading(session, beside, trusted)
        except UNKNOWN as error:
            # What is read is named as the snapshot's catalog names it.
            raise others(f"a table ({error.diag.message_primary})") from error
