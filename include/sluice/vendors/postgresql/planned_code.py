"""Code of others that runs with our rights when a query of a table is planned: which it is, and that nothing is read
before (see `sql/postgresql/catalog/planned_code.sql`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError, SluiceError
from sluice.model.foreign_code import ForeignCode
from sluice.model.names import TableName
from sluice.vendors.postgresql.catalog.definition import identifier
from sluice.vendors.postgresql.session import Connection, composed, connect

_FAMILY = sql.SQL("SELECT {}(relation::oid) UNION SELECT relid::oid FROM pg_partition_ancestors(relation)")
_CAPTURER = sql.SQL("(SELECT relowner FROM pg_class WHERE oid = {}::regclass)")
_US = sql.SQL("(SELECT oid FROM pg_roles WHERE rolname = current_user)")


def installed(tree: sql.Composable, settings: sql.Composable, tables_name: sql.Composable) -> sql.Composed:
    """The query as a function of ours in the source has it, of a table with its family."""
    return composed(
        "catalog/planned_code",
        members=_FAMILY.format(tree),
        capturer=_CAPTURER.format(tables_name),
        trusted=sql.SQL("(SELECT trusted_code FROM {})").format(settings),
    )


def found(connection: Connection, names: Sequence[TableName], trusted: Collection[str]) -> list[ForeignCode]:
    """Functions of others that planning a query of these tables would run, in the session's snapshot."""
    code = composed(
        "catalog/planned_code",
        members=composed("catalog/family"),
        capturer=_US,
        trusted=sql.Literal(list(trusted)),
    )
    schemas, tables = (sql.Literal([getattr(name, part) for name in names]) for part in ("schema", "table"))
    asked = composed("catalog/planned_code_of_tables", schemas=schemas, tables=tables, planned_code=code)
    rows = connection.execute(asked)
    return [ForeignCode(names[number - 1], *fields) for number, *fields in rows]


def lock_table(session: Connection, name: TableName) -> None:
    """Lock a table before its code is checked, so that no other session can add code in between."""
    session.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(identifier(name)))


def expect_none(connection: Connection, names: Sequence[TableName], trusted: Collection[str]) -> None:
    """Check that no code of others runs when these tables are read. Raises SluiceError SLC-360."""
    if code := found(connection, names, trusted):
        raise SluiceError(
            360,
            f"to read it would run code of others with our rights: {'; '.join(one.fact for one in code)}",
            f"nothing was read of it; choose one of three ways: {code[0].hint}",
        )


def expect_capturable(connection: Connection, names: Sequence[TableName], trusted: Collection[str]) -> None:
    """See that triggers of these tables can be made, which works out partition keys. Raises ConfigError SLC-360."""
    if keys := [one for one in found(connection, names, trusted) if one.is_key]:
        raise ConfigError(
            360,
            f"to make triggers would run code of others with our rights: {'; '.join(one.fact for one in keys)}",
            f"nothing was changed; take {keys[0].table} out of `tables`, or {keys[0].hint}",
        )


def expect_none_now(info: ConnectionInfo, names: Sequence[TableName], trusted: Collection[str]) -> None:
    """The same as `expect_none`, in a new session and so in the current catalog."""
    with connect(info, "check", autocommit=True) as session:
        expect_none(session, names, trusted)
