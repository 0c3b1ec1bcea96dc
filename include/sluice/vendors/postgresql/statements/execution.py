"""Executing a statement: on the master beside its record in ITEMS, on a slave at its place in the stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

import psycopg
from psycopg import sql
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from sluice.config.mapper import Mapper
from sluice.errors import SluiceError, UnclassifiedError
from sluice.model.names import TableName
from sluice.model.statement import Answer, NodeOutcome, Statement, compare
from sluice.vendors.postgresql.capture import own_ddl
from sluice.vendors.postgresql.capture.loop_filter import LoopFilter
from sluice.vendors.postgresql.catalog.definition import regclass
from sluice.vendors.postgresql.errors import explained
from sluice.vendors.postgresql.session import (
    ALL_CHECKED,
    PINNED,
    PURGE,
    Connection,
    composed,
    limit_lock_waits,
    restore,
)
from sluice.vendors.postgresql.statements import parser, portable_statement
from sluice.vendors.postgresql.statements.dialect import written
from sluice.vendors.postgresql.statements.parser import DefaultsTarget
from sluice.vendors.protocol.ddl_errors import not_ours
from sluice.vendors.protocol.statement_errors import fails, others_write, stops

_PATIENCE = "5s"
_FORSAKEN = "60s"
_LOST = "10s"
_NO_TABLE = (
    psycopg.errors.UndefinedTable,
    psycopg.errors.InvalidSchemaName,
    psycopg.errors.WrongObjectType,
)
# What `explained` calls an error that is in no class of its own.


def issue(
    connection: Connection,
    parts: Mapping[str, sql.Composable],
    statement: Statement,
    commits: Callable[[Statement, str], None],
    *,
    varying: bool,
    portable: bool = False,
) -> None:
    """Execute a statement on the master and record it, in one transaction: both or none.

    The rows that it changes are captured as ever and then taken out of the queue again, by the same transaction: that
    costs nobody else anything, and no way of changing a row is forgotten.

    Args:
        commits: called with the statement, the master's answer, and the transaction, right before the commit.
        portable: a node that is no PostgreSQL executes it, too.

    Raises:
        SluiceError: SLC-577 or SLC-578, it is not portable.
        SluiceError: SLC-100 or SLC-101, it is refused, or may do something else on another node; SLC-105.
        TransientError: SLC-115, it may change tables, and that of others that changed are not recorded yet.
    """
    parsed = parser.parsed(statement.sql)
    with connection.transaction():
        # An answer that it was executed can be relied on; and a client that is gone locks nobody out for long.
        connection.execute("SET LOCAL synchronous_commit = on")
        connection.execute(sql.SQL("SET LOCAL idle_in_transaction_session_timeout = {}").format(_FORSAKEN))
        # Nor does a statement that does not end; servers on some systems cannot look.
        with suppress(psycopg.errors.InvalidParameterValue), connection.transaction():
            connection.execute(sql.SQL("SET LOCAL client_connection_check_interval = {}").format(_LOST))
        others = (
            own_ddl.expect_recorded(connection, parts, _altered(parsed, statement.schema)) if parsed.defines else []
        )
        _look_up_in(connection, statement.schema)
        if not (parsed.reads or varying):
            _refuse_varying(connection, parsed)
        if not (parsed.reads or parsed.defines):
            _lock_tables(connection, parsed)
        sent = portable_statement.expect_portable(connection, statement) if portable else statement
        (first,) = connection.execute(composed("statements/begin", **parts)).fetchone() or (0,)
        # However the source is captured: it does not change over while this is in the queue.
        connection.execute(composed("capture/log/mark_statement", **parts))
        try:
            answer = _run(connection, statement.sql, statement.max_rows, reads=parsed.reads)
            # What its constraints and their triggers still have to do belongs to it.
            connection.execute(ALL_CHECKED)
            _look_up_in_catalog(connection)
        except psycopg.errors.ActiveSqlTransaction as error:
            raise parser.cannot_be_in_a_transaction(str(error).partition(" cannot")[0]) from None
        except psycopg.Error as error:
            meant = explained(error, "executing the statement on the master")
            if not (isinstance(meant, UnclassifiedError) or isinstance(error, psycopg.errors.ReadOnlySqlTransaction)):
                raise meant from error
            raise fails(meant.fact) from error
        # From here a client that is gone ends nothing: what becomes of the commit is found out afterwards.
        connection.execute("SET LOCAL client_connection_check_interval = 0")
        if parsed.defines:
            own_ddl.record(connection, parts, others=others)
        connection.execute(PURGE)
        connection.execute(composed("capture/registry/uncapture", **parts), {"first": first})
        done = replace(sent, reads=parsed.reads, answer=answer)
        row = connection.execute(composed("statements/record", **parts), {"content": done.to_json()}).fetchone()
        commits(done, str(row[0]) if row else "")


def execute(
    connection: Connection, statement: Statement, mapper: Mapper, loop_filter: LoopFilter, *, silent: bool
) -> NodeOutcome:
    """Execute a statement on a slave, in the transaction of the batch that it belongs to.

    Args:
        silent: the session keeps the slave's triggers and cascades from acting. A statement's own must act, for what
            they do on the master is not in the stream. On a master of another kind nothing acted beside it.

    Raises:
        SluiceError: SLC-103, it cannot be put under the slave's names; SLC-104, it fails.
    """
    text, schema = _text(statement, mapper), mapper.schema(statement.schema)
    parsed = parser.parsed(text)
    if parsed.defines:
        loop_filter.expect_recorded(_altered(parsed, schema))
    _look_up_in(connection, schema)
    if silent and not statement.token:
        connection.execute("SET LOCAL session_replication_role = origin")
    # What waits for the end of the transaction is what earlier steps left, then what this statement leaves.
    connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
    connection.execute("SET CONSTRAINTS ALL DEFERRED")
    try:
        with connection.transaction():
            answer = _run(connection, text, statement.max_rows, reads=statement.reads)
            connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
    except psycopg.Error as error:
        if not statement.reads:
            meant = explained(error, f"executing statement {statement.id} on the slave")
            if not isinstance(meant, UnclassifiedError):
                raise meant from error
            raise stops(meant.fact) from error
        outcome = NodeOutcome(False, str(error).partition("\n")[0])
    else:
        outcome = compare(statement.answer, answer)
    restore(connection)
    connection.execute("SET CONSTRAINTS ALL DEFERRED")
    if parsed.defines:
        loop_filter.record()
    return outcome


def _text(statement: Statement, mapper: Mapper) -> str:
    try:
        layout = statement.table
    except ValueError as error:
        raise not_ours(error) from None
    # A master that is a PostgreSQL knows the number of its transaction, and executed this very text.
    if statement.token and layout is not None:
        return written(statement, layout, mapper)
    return parser.mapped(statement.sql, mapper, statement.schema)


def _altered(parsed: parser.ParsedStatement, schema: str) -> list[TableName]:
    return [TableName(of or schema, table) for of, table in parsed.tables if parsed.alters]


def _look_up_in(connection: Connection, schema: str) -> None:
    # Last, for else our own temporary tables would come first.
    connection.execute(sql.SQL("SET LOCAL search_path = {}, pg_temp").format(sql.Identifier(schema)))


def _look_up_in_catalog(connection: Connection) -> None:
    # Names of ours must not be looked up where others may make functions.
    connection.execute(sql.SQL("SET LOCAL search_path = {}").format(sql.SQL(PINNED["search_path"])))


def _run(connection: Connection, text: str, max_rows: int, *, reads: bool) -> Answer:
    if not reads:
        return _answer(_sent(connection, text), max_rows, reads=False)
    # Read-only, and undone: what it calls may write nothing either. A cursor takes a query and nothing else.
    with connection.transaction(force_rollback=True):
        connection.execute("SET TRANSACTION READ ONLY")
        _sent(connection, f"DECLARE sluice_answer NO SCROLL CURSOR FOR {text}")
        return _answer(_sent(connection, f"FETCH FORWARD {max_rows + 1} FROM sluice_answer"), max_rows, reads=True)


def _sent(connection: Connection, text: str) -> PGresult:
    """Send a text by the extended protocol, which accepts a single statement only, and returns texts."""
    result = connection.pgconn.exec_params(text.encode(), None)
    if result.status not in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
        raise error_from_result(result)
    return result


def _answer(result: PGresult, max_rows: int, *, reads: bool) -> Answer:
    width = range(result.nfields)
    rows = tuple(
        tuple(None if (value := result.get_value(row, column)) is None else value.decode() for column in width)
        for row in range(min(result.ntuples, max_rows))
    )
    columns = tuple((result.fname(column) or b"").decode() for column in width)
    return Answer(columns, rows, result.ntuples > max_rows, 0 if reads else result.command_tuples or 0)


def _lock_tables(connection: Connection, parsed: parser.ParsedStatement) -> None:
    """Hold what a statement names against writers: one that has begun keeps a key below the statement's, and so comes
    first on the slaves, though the statement has not seen its rows here (R1).
    """
    limit_lock_waits(connection, _PATIENCE)
    for schema, table in sorted(parsed.tables, key=lambda name: (name[0] or "", name[1])):
        name = sql.Identifier(schema, table) if schema else sql.Identifier(table)
        try:
            with suppress(*_NO_TABLE), connection.transaction():
                connection.execute(sql.SQL("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE").format(name))
        except psycopg.errors.LockNotAvailable:
            raise others_write(table) from None
    limit_lock_waits(connection, None)


def _refuse_varying(connection: Connection, parsed: parser.ParsedStatement) -> None:
    why = sorted(parsed.varying) + _volatile(connection, parsed.called)
    if parsed.opaque:
        why.append("what cannot be looked into")
    for target in parsed.targets:
        why += [f"the value of {column}" for column in _open(connection, target)]
    if why:
        raise SluiceError(
            100,
            f"the statement may do something else on each node: {', '.join(why)}",
            "write the values themselves, or accept it with --allow-varying; nothing was changed",
        )


def _open(connection: Connection, target: DefaultsTarget) -> list[str]:
    """The columns of a table whose value the database makes, another one on each node."""
    name = TableName(target.schema, target.table) if target.schema else None
    text = regclass(name) if name else sql.Identifier(target.table).as_string(connection)
    values = {"table": text, "given": list(target.given)}
    found = []
    for column, identity, default in connection.execute(composed("statements/defaults"), values).fetchall():
        words, called = parser.varying(default or "")
        if identity or words or _volatile(connection, called):
            found.append(str(column))
    return found


def _volatile(connection: Connection, names: frozenset[str]) -> list[str]:
    rows = connection.execute(composed("statements/volatile"), {"names": sorted(names)}).fetchall()
    return [f"{name}()" for (name,) in rows]
