"""Executing a statement on a slave at its place in the stream, in the transaction of its batch."""

from __future__ import annotations

import oracledb
import pyarrow as pa

from sluice.config.mapper import Mapper
from sluice.errors import UnclassifiedError
from sluice.model.layout import Column, Layout
from sluice.model.names import Pair
from sluice.model.statement import Answer, Answered, Statement
from sluice.vendors.oracle.catalog.slave_tables import SlaveTable
from sluice.vendors.oracle.errors import explained
from sluice.vendors.oracle.read.slave_rows import canonical_texts, selected
from sluice.vendors.oracle.session import changed
from sluice.vendors.oracle.slave_columns import NUMBERS, Form, Stored, stored
from sluice.vendors.oracle.statements.dialect import OracleDialect, expect_no_odd_text, shown_value
from sluice.vendors.oracle.write.writer import TableWriter
from sluice.vendors.portable import carried_out
from sluice.vendors.portable.statement import Portable, Select, Shown
from sluice.vendors.portable.type_check import columns_of
from sluice.vendors.protocol.statement_errors import stops


def carry_out(
    session: oracledb.Connection, writer: TableWriter, text: str, mapper: Mapper, pair: Pair, answered: Answered
) -> None:
    """See `sluice.vendors.portable.carried_out`.

    Raises:
        SluiceError: SLC-104, it fails; SLC-577, a literal means something else here; or what `TableWriter` raises of
            its table, which nobody alters until the transaction ends.
    """

    def execute(statement: Statement, found: Portable, layout: Layout) -> Answer:
        expect_no_odd_text(found)
        table = writer.table(layout)
        _expect_stored_so(table, found)
        return _executed(session, table, found, statement)

    carried_out.carry_out(text, mapper, pair, answered, execute)


def _executed(session: oracledb.Connection, table: SlaveTable, found: Portable, statement: Statement) -> Answer:
    words = OracleDialect({one.column.name for one in table.columns if one.is_long})
    try:
        if isinstance(found, Select):
            return _read(session, words, table, found, statement.max_rows)
        count = sum(changed(session, one) for one in words.statements(found, table.name))
    except oracledb.Error as error:
        meant = explained(error, f"executing statement {statement.id} on the slave")
        if not isinstance(meant, UnclassifiedError):
            raise meant from error
        raise stops(meant.fact) from error
    return Answer(count=count if getattr(found, "is_counted", True) else 0)


def _read(
    session: oracledb.Connection, words: OracleDialect, table: SlaveTable, found: Select, max_rows: int
) -> Answer:
    statement, columns = asking(words, table, found)
    labels = tuple(one.label for one in found.shown)
    for frame in session.fetch_df_batches(statement, {}, size=max_rows + 1):
        rows = pa.table(frame)
        if rows.num_rows:
            sides = [one.to_pylist()[:max_rows] for one in canonical_texts(columns, rows)]
            return Answer(labels, tuple(zip(*sides, strict=True)), rows.num_rows > max_rows)
    return Answer(labels)


def asking(words: OracleDialect, table: SlaveTable, found: Select) -> tuple[str, list[Stored]]:
    """A query, and how the columns of its answer are read."""
    columns = [_answered(table, one) for one in found.shown]
    values = selected([shown_value(one, "held") for one in found.shown], columns)
    return f"SELECT {values} FROM {words.qualified(table.name)} held{words.where(found.where)}", columns


def _answered(table: SlaveTable, one: Shown) -> Stored:
    """How a column of an answer is read."""
    if one.function == "COUNT" or one.name is None:
        return Stored(Column(one.label, "bigint"), "NUMBER(19,0)", Form.INTEGER)
    (known,) = (column for column in table.columns if column.column.name == one.name.column)
    if one.function == "SUM":
        return Stored(Column(one.label, "numeric"), f"NUMBER(38,{known.digits[1]})", Form.DECIMAL)
    return known


def _expect_stored_so(table: SlaveTable, found: Portable) -> None:
    """See that what is compared and set is stored as a slave makes it, and computes. Raises SluiceError SLC-104."""
    for one in table.columns:
        name = one.column.name
        usual = stored(one.column, key=name in table.key)
        as_text = one.form is Form.LONG_TEXT and usual is not None and usual.form is not Form.LONG_TEXT
        summed = isinstance(found, Select) and any(
            shown.function in ("SUM", "MIN", "MAX") and shown.name and shown.name.column == name
            for shown in found.shown
        )
        if (name in columns_of(found) and as_text) or (summed and one.form not in (*NUMBERS, Form.DATE)):
            raise stops(f"{name} of {table.name} is stored as a text, and does not compute as one")
