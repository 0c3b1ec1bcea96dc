"""Executing a statement on a slave at its place in the stream, in the transaction of its batch."""

from __future__ import annotations

import pymysql

from sluice.config.mapper import Mapper
from sluice.errors import UnclassifiedError
from sluice.model.layout import Layout
from sluice.model.names import Pair
from sluice.model.statement import Answer, Answered, Statement
from sluice.vendors.mariadb.catalog.tables import SlaveTable, existing, no_table
from sluice.vendors.mariadb.errors import explained
from sluice.vendors.mariadb.session import Connection, changed, execute
from sluice.vendors.mariadb.statements.dialect import MariaDialect
from sluice.vendors.mariadb.types import Form, canonical, stored
from sluice.vendors.portable import carried_out
from sluice.vendors.portable.statement import Portable, Select, Shown, Update
from sluice.vendors.portable.type_check import columns_of
from sluice.vendors.protocol.statement_errors import stops

_WORDS = MariaDialect()


def carry_out(session: Connection, text: str, mapper: Mapper, pair: Pair, answered: Answered) -> None:
    """See `sluice.vendors.portable.carried_out`.

    Raises:
        SluiceError: SLC-104, it fails; or what `existing` raises of its table.
    """

    def execute(statement: Statement, found: Portable, layout: Layout) -> Answer:
        table = existing(session, layout)
        if table is None:
            raise no_table(layout.name)
        _expect_stored_so(table, found)
        return _executed(session, table, found, statement)

    carried_out.carry_out(text, mapper, pair, answered, execute)


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
