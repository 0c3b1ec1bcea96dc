"""Executing a statement on a master that is captured by triggers.

One transaction locks the table, executes the statement, takes the rows that triggers captured of it out of ITEMS again,
and puts the statement there in their place. Its key is drawn last, while nobody else writes to the table: so it has
seen all that is in front of it in the stream, and nothing of what is behind it (R1). Only portable ones are executed,
made anew from their parts.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import oracledb

from sluice.connections import ConnectionInfo
from sluice.errors import LockTimeout, TransientError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.statement import UNPLACED, Answer, Statement, TransactionOutcome, TransactionRef
from sluice.vendors.oracle.capture import registry
from sluice.vendors.oracle.capture.registry import Parts, Registered
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.recorded import YES, layout_of
from sluice.vendors.oracle.catalog.tables import described
from sluice.vendors.oracle.errors import code_of, explained, translated
from sluice.vendors.oracle.names import OracleResources, composed, qualified
from sluice.vendors.oracle.read.rows import expressions, row_texts
from sluice.vendors.oracle.session import changed, connect, execute, transaction, whole_values
from sluice.vendors.oracle.statements.dialect import OracleDialect, expect_kept, expect_no_odd_text, shown_value
from sluice.vendors.oracle.types import Captured, NotCaptured, captured
from sluice.vendors.portable.parser import portable
from sluice.vendors.portable.statement import Portable, Select, Shown, not_portable
from sluice.vendors.portable.type_check import fitted
from sluice.vendors.protocol.statement_errors import acts_beside, fails, others_write

_LOCKED, _NO_TABLE = "ORA-00054", "ORA-00942"
_NO_RIGHT = ("ORA-01031", "ORA-41900", _NO_TABLE)
_ALL = {*"IUD"}
_SIX_DIGITS = ("TIMESTAMP(6)", "TIMESTAMP(6) WITH TIME ZONE", "TIMESTAMP(6) WITH LOCAL TIME ZONE")


def understood(text: str, schema: str = "") -> Portable:
    """A statement, as far as its text tells. Raises SluiceError SLC-577."""
    found = portable(text, schema)
    expect_no_odd_text(found)
    return found


def issue(
    info: ConnectionInfo,
    resources: OracleResources,
    parts: Parts,
    statement: Statement,
    commits: Callable[[Statement, TransactionRef], None],
) -> None:
    """See `sluice.vendors.protocol.capture.Capture.issue`."""
    found = understood(statement.sql, statement.schema)
    number = {"id": statement.id}
    with translated("issuing a statement"), closing(connect(info, f"statement-{statement.id}")) as session:
        session.outputtypehandler = whole_values
        state = registry.state(session, parts)
        if state is None:
            raise not_portable("the source is not installed")
        with transaction(session):
            changed(session, composed("capture/statements/begin", **parts), number)
        with transaction(session):
            execute(session, composed("capture/statements/hold", **parts), number)
            done = _Issuing(session, resources, parts).done(statement, found)
            changed(session, composed("capture/statements/done", **parts), number)
            commits(done, TransactionRef(done.id, done.token, state.source.incarnation))


def fate(info: ConnectionInfo, parts: Parts, traced: TransactionRef) -> TransactionOutcome:
    """See `sluice.vendors.protocol.capture.Capture.fate`. A session of ours is ended by a DBA, or by the server."""
    with translated("asking what became of a statement"), closing(connect(info, "fate")) as session:
        state = registry.state(session, parts)
        if state is None or traced.incarnation not in (None, state.source.incarnation):
            return TransactionOutcome.UNKNOWN
        try:
            rows = execute(session, composed("capture/statements/hold", **parts), {"id": traced.id})
        except oracledb.DatabaseError as error:
            if code_of(error) == _LOCKED:
                return TransactionOutcome.RUNNING
            if code_of(error) != _NO_TABLE:
                raise
            rows = []
        session.rollback()
    return TransactionOutcome.COMMITTED if rows == [(YES,)] else TransactionOutcome.ROLLED_BACK


class _Issuing:
    """The transaction of one statement."""

    def __init__(self, session: oracledb.Connection, resources: OracleResources, parts: Parts) -> None:
        self._session = session
        self._resources = resources
        self._parts = parts

    def done(self, statement: Statement, found: Portable) -> Statement:
        """The statement, executed, with its answer, and in ITEMS."""
        name, reads = found.table, isinstance(found, Select)
        try:
            mode = "SHARE" if reads else "EXCLUSIVE"
            execute(self._session, composed("capture/statements/lock", table=qualified(name), mode=mode))
            table, layout, fitting = self._expect_alone(found)
            words = OracleDialect({one.name for one in table.columns if one.type == "CLOB"})
            if isinstance(fitting, Select):
                answer = self._read(words, table, fitting, statement.max_rows)
            else:
                count = sum(changed(self._session, one) for one in words.statements(fitting, name))
                answer = Answer(count=count if getattr(fitting, "is_counted", True) else 0)
        except oracledb.Error as error:
            meant = explained(error, "executing the statement on the master")
            if isinstance(meant, LockTimeout):
                raise others_write(name.table) from None
            if isinstance(meant, TransientError) or code_of(error) in _NO_RIGHT:
                raise meant from error
            raise fails(meant.fact) from error
        token = f"{UNPLACED}{uuid.uuid4()}"
        sent = replace(statement, reads=reads, answer=answer, token=token).with_table(layout)
        self._put(sent, name, table.relation)
        return sent

    def _put(self, sent: Statement, name: TableName, relation: int) -> None:
        ((id_,),) = execute(self._session, composed("write/transaction"))
        of_it = {"trans_key": str(id_)}
        touched = execute(self._session, composed("capture/statements/touched", **self._parts), of_it)
        if {int(one) for (one,) in touched} - {relation}:
            raise acts_beside(["rows of other tables were changed, too"])
        changed(self._session, composed("capture/statements/take_out", **self._parts), of_it)
        values = {**of_it, "schema": name.schema, "name": name.table, "content": sent.to_json()}
        changed(self._session, composed("capture/statements/record", **self._parts), values)

    def _expect_alone(self, found: Portable) -> tuple[CapturedTable, Layout, Portable]:
        """The table, and the statement with literals of the kinds of its columns.

        Raises:
            SluiceError: SLC-577, SLC-578, it would do something else on other nodes.
        """
        name = found.table
        table = described(self._session, name)
        one = registry.registered(self._session, self._parts).get(name)
        if table is None or one is None or not _is_captured(one, table):
            raise not_portable(f"not all changes of {name} are captured, as it is now")
        layout = layout_of(table)
        columns = tuple(
            Column(column.name, shown.type if _is_alike(column) else f"{column.type} of Oracle", shown.not_null)
            for column, shown in zip(table.columns, layout.columns, strict=True)
        )
        made = fitted(found, replace(layout, columns=columns))
        ((character_set,),) = execute(self._session, composed("catalog/character_set"))
        expect_kept(made, str(character_set))
        values = {"schema": name.schema, "name": name.table, "home": self._resources.schema, "trigger_": one.trigger}
        if acting := [str(why) for (why,) in execute(self._session, composed("capture/statements/beside"), values)]:
            raise acts_beside(acting)
        return table, layout, made

    def _read(self, words: OracleDialect, table: CapturedTable, made: Select, max_rows: int) -> Answer:
        kinds = [_kind(table, one) for one in made.shown]
        values = expressions([shown_value(one, "source") for one in made.shown], kinds, self._parts)
        statement = f"SELECT {values} FROM {words.qualified(made.table)} source{words.where(made.where)}"
        with self._session.cursor() as cursor:
            cursor.execute(statement, {})
            rows = cursor.fetchmany(max_rows + 1)
        texts = tuple(tuple(row_texts(row, kinds)) for row in rows[:max_rows])
        return Answer(tuple(one.label for one in made.shown), texts, len(rows) > max_rows)


def _is_captured(one: Registered, table: CapturedTable) -> bool:
    return {*one.actions} == _ALL and not one.lost and one.is_up_to_date and one.recorded.table == table


def _is_alike(column: OracleColumn) -> bool:
    """Whether texts of values are those of the log and of a slave, whatever is assigned."""
    if column.type == "NUMBER":
        return column.scale is None or column.scale >= 0
    return column.type in ("VARCHAR2", "CLOB", *_SIX_DIGITS)


def _kind(table: CapturedTable, one: Shown) -> Captured:
    if one.function == "COUNT" or one.name is None:
        return _number(0)
    (column,) = (column for column in table.columns if column.name == one.name.column)
    kind = captured(column)
    if isinstance(kind, NotCaptured) or not kind.literal:
        raise not_portable(f"{column.name} is a {column.declared}")
    return _number(column.scale) if one.function == "SUM" else kind


def _number(scale: int | None) -> Captured:
    kind = captured(OracleColumn("", "NUMBER", precision=None if scale is None else 38, scale=scale))
    assert isinstance(kind, Captured)
    return kind
