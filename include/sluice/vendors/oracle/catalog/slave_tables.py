"""Tables of a slave: made from what every vendor says of them, and looked at where they are there already (R7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import oracledb

from sluice.errors import SluiceError, UnfitTable
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.tables import column_of
from sluice.vendors.oracle.names import LONGEST, composed, qualified, quoted
from sluice.vendors.oracle.session import execute
from sluice.vendors.oracle.slave_columns import CLOB, Stored, stored

_MOST_COLUMNS = 1000
# Of a stage, beside the columns of its table (`write/stage`).
MARK = "SLUICE_MARK"


@dataclass(frozen=True)
class SlaveTable:
    """A table as a slave stores it.

    Attributes:
        columns: in the order of the layout.
        key: the names of the primary key's columns; none if it has none.
    """

    name: TableName
    columns: tuple[Stored, ...]
    key: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return [one.column.name for one in self.columns]


def table_of(layout: Layout) -> SlaveTable:
    """A table as a slave makes it, from the slave's view of its layout. Raises SluiceError SLC-432 if it cannot."""
    names = [layout.name.schema, layout.name.table, *(one.name for one in layout.columns)]
    if wrong := [name for name in names if not name or len(name.encode()) > LONGEST or '"' in name or "\0" in name]:
        raise _unmakable(layout, f"{wrong[0]!r} is no name there: it has a double quote, or more than {LONGEST} bytes")
    if MARK in names[2:]:
        raise _unmakable(layout, f"{MARK} is the name of a column of ours where batches are staged")
    if len(layout.columns) > _MOST_COLUMNS - 1 or not layout.columns:
        raise _unmakable(
            layout, f"a table there has 1 to {_MOST_COLUMNS - 1} columns, and it has {len(layout.columns)}"
        )
    if computed := [one.name for one in layout.columns if one.generated]:
        raise _unmakable(
            layout, f"the master computes {', '.join(computed)}, in a language that the slave does not speak"
        )
    columns = []
    for index, column in enumerate(layout.columns):
        found = stored(column, key=index in layout.key)
        if found is None:
            raise _unmakable(
                layout, f"{column.name} is in the primary key, and no index there takes every value of {column.type}"
            )
        columns.append(found)
    return SlaveTable(layout.name, tuple(columns), layout.key_names)


def no_table(name: TableName) -> SluiceError:
    """Rows are to come to a table, or to be compared, that is not there."""
    return SluiceError(
        70, f"the slave has no table {name}", "make and fill it by initial_update; nothing of it was written"
    )


def referring(session: oracledb.Connection, name: TableName) -> list[TableName]:
    """Other tables whose foreign keys refer to a table, as far as the user sees them."""
    rows = execute(session, composed("catalog/references"), {"schema": name.schema, "name": name.table})
    return [TableName(*row) for row in rows]


def existing(session: oracledb.Connection, layout: Layout) -> SlaveTable | None:
    """The table that is there under the name of a layout; None if none is.

    Raises:
        UnfitTable: SLC-073, it does not take the master's rows exactly.
    """
    named = {"schema": layout.name.schema, "name": layout.name.table}
    rows = execute(session, composed("catalog/columns"), named)
    if not rows:
        return None
    wanted = table_of(layout)
    if obstacles := execute(session, composed("catalog/obstacles"), named):
        raise _unfit(layout.name, f"it has {'; '.join(str(row[0]) for row in obstacles)}")
    there = {column.name: column for column in map(column_of, rows)}
    if others := sorted({*there} ^ {*wanted.names}):
        raise _unfit(layout.name, f"not both sides have the columns {', '.join(others)}")
    key = [str(row[0]) for row in execute(session, composed("catalog/primary_key"), named)]
    if sorted(key) != sorted(wanted.key):
        raise _unfit(layout.name, f"its primary key is ({', '.join(key)}), not ({', '.join(wanted.key)})")
    columns = tuple(_as_there(layout.name, one, there[one.column.name]) for one in wanted.columns)
    return SlaveTable(layout.name, columns, wanted.key)


def making(table: SlaveTable) -> str:
    """The statement that makes a table; as all DDL it commits."""
    parts = [
        f"{quoted(one.column.name)} {one.type} {'NOT NULL' if one.column.not_null else 'NULL'}" for one in table.columns
    ]
    if table.key:
        parts.append(f"PRIMARY KEY ({names_of(table.key)})")
    return composed("write/make", table=qualified(table.name), columns=", ".join(parts))


def names_of(columns: Sequence[str], alias: str = "") -> str:
    """Names of columns as a list."""
    return ", ".join(f"{alias and alias + '.'}{quoted(name)}" for name in columns)


def _as_there(table: TableName, wanted: Stored, there: OracleColumn) -> Stored:
    if there.virtual:
        raise _unfit(table, f"{there.name} is computed")
    if there.not_null and not wanted.column.not_null:
        raise _unfit(table, f"{there.name} is NOT NULL, and the master's is not")
    if wanted.holds(there):
        return Stored(wanted.column, there.declared, wanted.form)
    if there.declared == CLOB:
        return wanted.as_text
    raise _unfit(
        table,
        f"{there.name} is a {there.declared}, and takes {wanted.column.type} exactly only as {wanted.type} or {CLOB}",
    )


def _unmakable(layout: Layout, why: str) -> SluiceError:
    return SluiceError(
        432,
        f"Oracle cannot have {layout.name} as the master has it: {why}",
        "call it otherwise, leave the column out (`columns`, `exclude_columns`) or the table (`exclude`) in "
        "`slaves.<name>.tables`; or alter it on the master",
    )


def _unfit(table: TableName, why: str) -> UnfitTable:
    return UnfitTable(
        73,
        f"the slave's {table} does not take the master's rows exactly: {why}",
        "alter it there, or drop it and let initial_update make it; nothing of it was written",
    )
