"""Executing a statement on a master whose changes are read from its binary log.

One transaction has a record of it, its rows, and the text of the record. Rows, gaps and the record are locked until the
commit, and the log has transactions in the order of their commits: so the statement has seen all that is in front of
it in the log, and nothing of what is behind it (R1). Only portable ones are executed, made anew from their parts.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import replace

import pymysql

from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError, TransientError
from sluice.model.layout import Column
from sluice.model.names import Resources, TableName
from sluice.model.statement import UNPLACED, Answer, Statement, TransactionOutcome, TransactionRef
from sluice.vendors.mariadb.capture.binlog import state
from sluice.vendors.mariadb.capture.binlog.server import server
from sluice.vendors.mariadb.capture.binlog.watched import Watched
from sluice.vendors.mariadb.catalog.master_tables import PLAIN, MasterTable, described, kind_of
from sluice.vendors.mariadb.catalog.rights import shows_triggers
from sluice.vendors.mariadb.errors import explained, number_of, translated
from sluice.vendors.mariadb.master_types import Canonical
from sluice.vendors.mariadb.session import (
    Connection,
    changed,
    composed,
    connect_to_master,
    end_session,
    execute,
    expect_pinned,
    qualified,
    transaction,
)
from sluice.vendors.mariadb.statements.dialect import MasterDialect
from sluice.vendors.portable.parser import portable
from sluice.vendors.portable.statement import Insert, Number, Portable, Select, Update, not_portable
from sluice.vendors.portable.type_check import fitted
from sluice.vendors.protocol.statement_errors import acts_beside, fails, others_write

_PATIENCE_S, _FORSAKEN_S = 5, 60
_LOCKED, _NO_TABLE = 1205, 1146
_ALL = {*"IUD"}
# Types of which the texts of values are those of the log and of a slave, whatever is assigned.
_ALIKE = {"tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "varchar", "date", "datetime", "timestamp"}
_ALIKE |= {"tinytext", "text", "mediumtext", "longtext", "uuid"}


def issue(
    info: ConnectionInfo,
    resources: Resources,
    statement: Statement,
    commits: Callable[[Statement, TransactionRef], None],
) -> None:
    """See `sluice.vendors.protocol.capture.Capture.issue`."""
    found = portable(statement.sql, statement.schema)
    records = {"records": qualified(state.records_of(resources))}
    with translated("issuing a statement"), closing(connect_to_master(info, f"statement {statement.id}")) as session:
        row = state.known(session, state.parts_of(resources))
        incarnation = row.seen_from(server(session)).incarnation
        _expect_issued(session)
        _expect_logged(session)
        execute(session, "SELECT GET_LOCK(%(lock)s, 0)", {"lock": _lock(resources, statement.id)})
        execute(session, composed("statements/records", **records, collation=session.server.collation))
        expect_pinned(session)
        # A writer is waited for so long; and a client that is gone locks nobody out for longer.
        execute(session, f"SET SESSION innodb_lock_wait_timeout = {_PATIENCE_S}, lock_wait_timeout = {_PATIENCE_S}")
        execute(session, f"SET SESSION idle_transaction_timeout = {_FORSAKEN_S}")
        # The text of one that is at work stays until the next time.
        with suppress(pymysql.err.OperationalError):
            changed(session, composed("statements/forget", **records), {"id": statement.id})
        token = f"{UNPLACED}{uuid.uuid4()}"
        with transaction(session):
            changed(session, composed("statements/begin", **records), {"id": statement.id})
            # What a trigger of it changed would pass for the statement's own. From here on nobody makes one.
            if acting := _beside(session, state.records_of(resources)):
                raise acts_beside(acting)
            done = _done(session, statement, found, Watched(row.wanted, resources), token)
            changed(session, composed("statements/record", **records), {"id": done.id, "content": done.to_json()})
            commits(done, TransactionRef(done.id, token, incarnation))


def fate(info: ConnectionInfo, resources: Resources, traced: TransactionRef, *, end: bool) -> TransactionOutcome:
    """See `sluice.vendors.protocol.capture.Capture.fate`."""
    records = {"records": qualified(state.records_of(resources))}
    with translated("asking what became of a statement"), closing(connect_to_master(info, "fate")) as session:
        row = state.found(session, state.parts_of(resources))
        if row is None or traced.incarnation not in (None, row.seen_from(server(session)).incarnation):
            return TransactionOutcome.UNKNOWN
        if end:
            ((holder,),) = execute(session, "SELECT IS_USED_LOCK(%(lock)s)", {"lock": _lock(resources, traced.id)})
            if holder is not None:
                end_session(session, int(holder))
        try:
            kept = execute(session, composed("statements/committed", **records), {"id": traced.id})
        except pymysql.Error as error:
            if number_of(error) == _LOCKED:
                return TransactionOutcome.RUNNING
            if number_of(error) != _NO_TABLE:
                raise
            kept = []
    return TransactionOutcome.COMMITTED if kept else TransactionOutcome.ROLLED_BACK


def _lock(resources: Resources, number: int) -> str:
    return f"sluice statement {resources.folded[:20]} {number}"


def _expect_issued(session: Connection) -> None:
    if not session.server.issues_statements:
        raise SluiceError(
            101,
            f"statements for every node cannot be issued on a master on {session.server.name}",
            "nothing was changed; execute it on the master: its rows travel by the log",
        )


def _expect_logged(session: Connection) -> None:
    """See that this session's changes are in the log, as rows. Raises SluiceError SLC-400."""
    (found,) = execute(session, "SELECT @@SESSION.sql_log_bin, @@SESSION.binlog_format, @@SESSION.binlog_row_image")
    if found != ("1", "ROW", "FULL"):
        raise SluiceError(
            400,
            f"a session of this account writes other things into the binary log than rows: sql_log_bin, binlog_format "
            f"and binlog_row_image are {', '.join(found)}",
            "nothing was changed; let no `init_connect` of the server set them",
        )


def _done(session: Connection, statement: Statement, found: Portable, watched: Watched, token: str) -> Statement:
    """The statement, executed, with its answer."""
    name = found.table
    try:
        # From here on nobody alters it until the transaction ends.
        execute(session, f"SELECT 1 FROM {qualified(name)} LIMIT 0")
        table = described(session, name)
        if table is None or kind_of(session, name) != PLAIN:
            raise not_portable(f"there is no table {name}")
        reads = isinstance(found, Select)
        fitting = _expect_alone(session, table, found, watched)
        words = MasterDialect({one.name: one for one in table.columns})
        answer = (
            _read(session, words, table, fitting, statement.max_rows)
            if reads
            else Answer(count=_written(session, words, fitting))
        )
    except pymysql.Error as error:
        if number_of(error) == _LOCKED:
            raise others_write(name.table) from None
        meant = explained(error, "executing the statement on the master")
        raise meant if isinstance(meant, TransientError) else fails(meant.fact) from error
    sent = replace(statement, reads=reads, answer=answer, token=token)
    return sent.with_table(table.layout())


def _expect_alone(session: Connection, table: MasterTable, found: Portable, watched: Watched) -> Portable:
    """The statement, with literals of the kinds of its columns. Raises SluiceError SLC-577, SLC-578."""
    name = table.name
    if {*(watched.actions(name) or "")} != _ALL:
        raise not_portable(f"not all changes of {name} are captured")
    plain = replace(
        table.layout(),
        columns=tuple(
            Column(one.name, (one.type or "") if one.kind in _ALIKE else f"{one.kind} of MariaDB", one.not_null)
            for one in table.columns
        ),
    )
    made = fitted(found, plain)
    if isinstance(made, Select):
        return made
    named = {"schema": name.schema, "table": name.table}
    if acting := _beside(session, name):
        raise acts_beside(acting)
    counting = {str(column) for (column,) in execute(session, composed("statements/counting"), named)}
    if isinstance(made, Insert) and _numbers(made, counting):
        raise not_portable("a 0 in a column with AUTO_INCREMENT is numbered anew")
    return made


def _beside(session: Connection, name: TableName) -> list[str]:
    named = {"schema": name.schema, "table": name.table}
    acting = [f"{why} of {name}" for (why,) in execute(session, composed("statements/beside"), named)]
    if not shows_triggers(session, name):
        acting.append(f"triggers of {name}, which the server shows to accounts with TRIGGER on `{name.schema}` alone")
    return acting


def _numbers(made: Insert, counting: set[str]) -> bool:
    values = (value for row in made.rows for column, value in zip(made.columns, row, strict=True) if column in counting)
    return any(not (isinstance(value, Number) and value.digits.strip("-0")) for value in values)


def _written(session: Connection, words: MasterDialect, made: Portable) -> int:
    matched = 0
    if isinstance(made, Update):
        # The server counts rows that become others alone. What is counted is locked, and so is what is not there.
        where = words.where(made.where)
        ((number,),) = execute(session, f"SELECT COUNT(*) FROM {words.qualified(made.table)}{where} FOR UPDATE")
        matched = int(number)
    count = changed(session, words.statement(made, made.table))
    if bent := [f"{row[2]} [{row[1]}]" for row in execute(session, "SHOW WARNINGS") if row[0] != "Note"]:
        raise fails(f"the server does something else than it says: {'; '.join(bent)}")
    if isinstance(made, Update):
        return matched
    return count if getattr(made, "is_counted", True) else 0


def _read(session: Connection, words: MasterDialect, table: MasterTable, made: Portable, max_rows: int) -> Answer:
    assert isinstance(made, Select)
    columns: Mapping[str, Canonical] = {one.name: one.canonical for one in table.columns}
    limit = f" LIMIT {max_rows + 1} LOCK IN SHARE MODE"
    rows = execute(session, f"{words.statement(made, made.table)}{limit}")
    shown = [columns[one.name.column] if one.name and one.function in ("", "MIN", "MAX") else str for one in made.shown]
    texts = tuple(
        tuple(None if value is None else canonical(value) for canonical, value in zip(shown, row, strict=True))
        for row in rows[:max_rows]
    )
    return Answer(tuple(one.label for one in made.shown), texts, len(rows) > max_rows)
