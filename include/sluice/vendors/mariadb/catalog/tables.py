"""Tables of a slave: made from what every vendor says of them, and looked at where they are there already (R7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pymysql

from sluice.errors import SluiceError, UnclassifiedError, UnfitTable
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.vendors.mariadb.catalog.rights import expect_triggers_shown
from sluice.vendors.mariadb.errors import explained, number_of
from sluice.vendors.mariadb.row_width import fit
from sluice.vendors.mariadb.server import MARIADB, Server
from sluice.vendors.mariadb.session import Connection, Row, Sql, composed, execute, qualified, quoted
from sluice.vendors.mariadb.types import LONGTEXT, Stored, stored

_LONGEST_NAME = 64
_MADE = "DEFAULT CHARACTER SET utf8mb4 COLLATE {}"
_NO_DATABASE = 1049


@dataclass(frozen=True)
class SlaveTable:
    """A table as a slave stores it.

    Attributes:
        columns: in the order of the layout.
        key: the names of the primary key's columns; none if it has none.
        server: the one that has it.
    """

    name: TableName
    columns: tuple[Stored, ...]
    key: tuple[str, ...]
    server: Server = MARIADB

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return [one.column.name for one in self.columns]


def table_of(layout: Layout, server: Server = MARIADB) -> SlaveTable:
    """A table as a slave makes it, from the slave's view of its layout. Raises SluiceError SLC-432 if it cannot."""
    wanted = _taking_all(layout, server)
    return replace(wanted, columns=fit(wanted.columns, wanted.key))


def _taking_all(layout: Layout, server: Server) -> SlaveTable:
    """The columns that take every value, each for itself."""
    names = [layout.name.schema, layout.name.table, *(one.name for one in layout.columns)]
    if long := [name for name in names if len(name) > _LONGEST_NAME or name != name.rstrip() or not name]:
        raise _unmakable(
            layout.name, f"{long[0]!r} is no name there: it ends in a blank, or is longer than {_LONGEST_NAME}"
        )
    expect_kept_name(layout.name, server)
    folded = [one.name.casefold() for one in layout.columns]
    if twins := [one.name for one in layout.columns if folded.count(one.name.casefold()) > 1]:
        raise _unmakable(
            layout.name, f"the columns {', '.join(twins)} differ by their case alone, which columns there do not"
        )
    if wide := list(filter(_is_beyond_names, names)):
        raise _unmakable(layout.name, f"{wide[0]!r} has a character that names there cannot have")
    if computed := [one.name for one in layout.columns if one.generated]:
        raise _unmakable(
            layout.name, f"the master computes {', '.join(computed)}, in a language that the slave does not speak"
        )
    columns = []
    for index, column in enumerate(layout.columns):
        found = stored(column, server, key=index in layout.key)
        if found is None:
            raise _unmakable(
                layout.name,
                f"{column.name} is in the primary key, and no index there takes every value of {column.type}",
            )
        columns.append(found)
    return SlaveTable(layout.name, tuple(columns), layout.key_names, server)


def _is_beyond_names(name: str) -> bool:
    return any(ord(sign) > 0xFFFF for sign in name)


def expect_kept_name(name: TableName, server: Server) -> None:
    """See that a table is called as it is written, or two could become one. Raises SluiceError SLC-432 if not."""
    if not server.keeps(name.schema, name.table):
        raise _unmakable(name, "the server writes names in lower case (lower_case_table_names = 1), and this is not")


def no_table(name: TableName) -> SluiceError:
    """Rows are to come to a table, or to be compared, that is not there."""
    return SluiceError(
        70, f"the slave has no table {name}", "make and fill it by initial_update; nothing of it was written"
    )


def existing(session: Connection, layout: Layout) -> SlaveTable | None:
    """The table that is there under the name of a layout; None if none is.

    Raises:
        UnfitTable: SLC-073, it does not take the master's rows exactly.
        SluiceError: SLC-033, the server may hide from us what acts on its rows.
    """
    named = {"schema": layout.name.schema, "table": layout.name.table}
    # The catalog cannot be asked for a name that no table has.
    rows = () if any(map(_is_beyond_names, named.values())) else execute(session, composed("catalog/columns"), named)
    if not rows:
        return None
    wanted = _taking_all(layout, session.server)
    if obstacles := execute(session, composed("catalog/obstacles"), named):
        raise _unfit(layout.name, f"it has {'; '.join(str(row[0]) for row in obstacles)}")
    expect_triggers_shown(session, layout.name)
    there = {row[0]: row for row in rows}
    if others := sorted({*there} ^ {*wanted.names}):
        raise _unfit(layout.name, f"not both sides have the columns {', '.join(others)}")
    key = [row[0] for row in sorted((row for row in rows if row[5]), key=lambda row: int(row[5]))]
    if sorted(key) != sorted(wanted.key):
        raise _unfit(layout.name, f"its primary key is ({', '.join(key)}), not ({', '.join(wanted.key)})")
    columns = tuple(_as_there(layout.name, one, there[one.column.name]) for one in wanted.columns)
    return SlaveTable(layout.name, columns, wanted.key, session.server)


def make(session: Connection, table: SlaveTable) -> None:
    """Make a table, and its database if that is missing. Commits, as all DDL does here."""
    with _making(table.name):
        execute(session, made_schema(table.name.schema, table.server))
        execute(session, made(table))


def make_stage(session: Connection, table: SlaveTable, name: str) -> Sql:
    """Make a temporary table, which commits nothing, for what becomes of a table. Raises SluiceError SLC-432."""
    stage = qualified(TableName(table.name.schema, name))
    columns = [
        f"{quoted(one.column.name)} {one.declared} {'NOT NULL' if one.column.name in table.key else 'NULL'}"
        for one in table.columns
    ]
    key = [f"PRIMARY KEY ({names_of(table.key)})"] if table.key else []
    parts = {"stage": stage, "columns": ", ".join([*columns, *key]), "collation": table.server.collation}
    with _making(table.name):
        execute(session, composed("write/stage", **parts))
    return stage


def expect_makeable(session: Connection, table: SlaveTable) -> None:
    """See that the server makes a table and a stage for it: many limits only it knows. Nothing is written.

    Raises:
        SluiceError: SLC-432, it does not. Where its database is not there yet, that is not known.
    """
    try:
        stage = make_stage(session, table, "sluice_tried")
    except SluiceError as error:
        if number_of(error.__cause__) == _NO_DATABASE:
            return
        raise
    execute(session, f"DROP TEMPORARY TABLE {stage}")


def made_schema(schema: str, server: Server) -> str:
    """The statement that makes a database if it is missing."""
    return f"CREATE DATABASE IF NOT EXISTS {quoted(schema)} {_MADE.format(server.collation)}"


def made(table: SlaveTable) -> str:
    """The statement that makes a table."""
    parts = [
        f"{quoted(one.column.name)} {one.declared} {'NOT NULL' if one.column.not_null else 'NULL'}"
        for one in table.columns
    ]
    if table.key:
        parts.append(f"PRIMARY KEY ({', '.join(map(quoted, table.key))})")
    made_as = _MADE.format(table.server.collation)
    return f"CREATE TABLE {qualified(table.name)} ({', '.join(parts)}) ENGINE = InnoDB {made_as}"


def names_of(columns: Sequence[str], alias: str = "") -> str:
    """Names of columns as a list."""
    return ", ".join(f"{alias and alias + '.'}{quoted(name)}" for name in columns)


def _as_there(table: TableName, wanted: Stored, there: Row) -> Stored:
    name, kind, collation, nullable, extra, _ = there
    if extra:
        raise _unfit(table, f"{name} is {extra}")
    if nullable == "NO" and not wanted.column.not_null:
        raise _unfit(table, f"{name} is NOT NULL, and the master's is not")
    if (kind, collation) == (LONGTEXT, wanted.server.collation):
        return wanted.as_text
    if (kind, collation) != (wanted.type, wanted.collation):
        shown = f"{kind} {(collation and f'COLLATE {collation}') or ''}".strip()
        raise _unfit(
            table,
            f"{name} is a {shown}, and takes {wanted.column.type} exactly only as {wanted.declared} or "
            f"{LONGTEXT} COLLATE {wanted.server.collation}",
        )
    return wanted


@contextmanager
def _making(name: TableName) -> Iterator[None]:
    """Say what it means that the server refuses a table."""
    try:
        yield
    except pymysql.Error as error:
        meant = explained(error, f"making {name}")
        if isinstance(meant, UnclassifiedError):
            raise _unmakable(name, f"its server says: {error.args[-1]}") from error
        raise meant from error


def _unmakable(name: TableName, why: str) -> SluiceError:
    return SluiceError(
        432,
        f"the slave cannot have {name} as the master has it: {why}",
        "call it otherwise, leave columns out (`columns`, `exclude_columns`) or the table (`exclude`) in "
        "`slaves.<name>.tables`; or alter it on the master",
    )


def _unfit(table: TableName, why: str) -> UnfitTable:
    return UnfitTable(
        73,
        f"the slave's {table} does not take the master's rows exactly: {why}",
        "alter it there, or drop it and let initial_update make it; nothing of it was written",
    )
