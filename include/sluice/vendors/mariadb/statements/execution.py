"""Executing a statement on a slave at its place in the stream, in the transaction of its batch.

Its words are made here from its parts; no text that a person wrote reaches the server. It commits nothing by itself, so
it is executed exactly once, as rows are.
"""

from __future__ import annotations

from dataclasses import replace

import pymysql

from sluice.config.mapper import Mapper
from sluice.errors import SluiceError, TransientError, UnclassifiedError
from sluice.model.names import Pair
from sluice.model.statement import Answer, Answered, NodeOutcome, Statement, compared
from sluice.vendors.mariadb.catalog.tables import SlaveTable, existing, no_table
from sluice.vendors.mariadb.errors import explained
from sluice.vendors.mariadb.session import Connection, changed, execute
from sluice.vendors.mariadb.statements.wording import MariaWording
from sluice.vendors.mariadb.types import Form, canonical, stored
from sluice.vendors.portable.fitting import columns_of, fitted
from sluice.vendors.portable.naming import expect_seen
from sluice.vendors.portable.reading import portable
from sluice.vendors.portable.statement import Portable, Select, Shown, Update
from sluice.vendors.protocol.ddl_errors import not_ours
from sluice.vendors.protocol.statement_errors import stops

_WORDS = MariaWording()


def carry_out(session: Connection, text: str, mapper: Mapper, pair: Pair, answered: Answered) -> None:
    """Execute a statement of the stream, and record its answer before this transaction ends.

    Raises:
        SluiceError: SLC-068, it is none that Sluice wrote; SLC-104, it fails; SLC-579, nobody looked whether it is
            portable; or what `existing` raises of its table.
    """
    try:
        statement = Statement.from_json(text)
        layout = statement.table
    except ValueError as error:
        raise not_ours(error) from None
    try:
        if layout is None:
            raise _not_looked_at(statement, pair)
        found = fitted(portable(statement.sql, statement.schema), layout)
        name = expect_seen(mapper, found.table)
        table = existing(session, replace(layout, name=name))
        if table is None:
            raise no_table(name)
        _expect_stored_so(table, found)
        answer = _executed(session, table, found, statement)
    except SluiceError as error:
        answered(statement, NodeOutcome(False, error.fact))
        # A query that fails stops nothing, unless the session may be lost.
        if statement.reads and not isinstance(error, TransientError):
            return
        raise
    answered(statement, compared(statement.answer, answer))


def _executed(session: Connection, table: SlaveTable, found: Portable, statement: Statement) -> Answer:
    try:
        if isinstance(found, Select):
            return _read(session, table, found, statement.max_rows)
        count = _written(session, table, found)
    except pymysql.Error as error:
        meant = explained(error, f"executing statement {statement.id} on the slave")
        if not isinstance(meant, UnclassifiedError):
            raise meant from error
        raise stops(meant.fact) from error
    return Answer(count=count)


def _written(session: Connection, table: SlaveTable, found: Portable) -> int:
    matched = 0
    if isinstance(found, Update):
        # The server counts rows that become others alone.
        condition = _WORDS.where(found.where)
        ((number,),) = execute(session, f"SELECT COUNT(*) FROM {_WORDS.qualified(table.name)}{condition}")
        matched = int(number)
    count = changed(session, _WORDS.statement(found, table.name))
    bent = [f"{row[2]} [{row[1]}]" for row in execute(session, "SHOW WARNINGS") if row[0] != "Note"]
    if bent:
        raise stops(f"the slave would not do the same: {'; '.join(bent)}")
    if isinstance(found, Update):
        return matched
    return count if getattr(found, "is_counted", True) else 0


def _read(session: Connection, table: SlaveTable, found: Select, max_rows: int) -> Answer:
    rows = execute(session, f"{_WORDS.statement(found, table.name)} LIMIT {max_rows + 1}")
    columns = tuple(one.label for one in found.shown)
    sides = [_texts(table, one, [row[place] for row in rows[:max_rows]]) for place, one in enumerate(found.shown)]
    return Answer(columns, tuple(zip(*sides, strict=True)) if rows[:max_rows] else (), len(rows) > max_rows)


def _texts(table: SlaveTable, one: Shown, values: list[object]) -> list[str | None]:
    if one.function in ("COUNT", "SUM") or one.name is None:
        return [None if value is None else str(value) for value in values]
    (known,) = (column for column in table.columns if column.column.name == one.name.column)
    return list(canonical(known, values).to_pylist())


def _expect_stored_so(table: SlaveTable, found: Portable) -> None:
    """See that what is compared and set is stored as a slave makes it. Raises SluiceError SLC-104."""
    for one in table.columns:
        name = one.column.name
        usual = stored(one.column, table.server, key=name in table.key)
        if name in columns_of(found) and one.form is Form.TEXT and usual and usual.form is not Form.TEXT:
            raise stops(f"{name} of {table.name} is stored as a text, and does not compute as one")


def _not_looked_at(statement: Statement, pair: Pair) -> SluiceError:
    return SluiceError(
        579,
        f"statement {statement.id} was issued when slave {pair.slave} took no part in statements, and nobody looked "
        "whether it does the same there",
        "set `statements: false` for its replication until it is passed over, and do there by hand what the statement "
        "did; or leave it behind by initial_update",
    )
