"""Scripts that give an account what it needs on a source or on a slave; an administrator runs them with the client."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pymysql.converters import escape_string

from sluice import shell
from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError
from sluice.model.names import Resources, TableName
from sluice.vendors.mariadb.session import Sql, composed, quoted

# Without one of these rights on the whole database the server hides constraints from us, and a table that must be
# refused looks as if it had none; REFERENCES changes nothing.
_READ = "SELECT, REFERENCES"
# Where a session cannot learn the place of its snapshot in the log, a table is locked for the moment of that.
_LOCKED = "LOCK TABLES"
_KEPT = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP"
# By the manual of MariaDB triggers are shown to those alone who have TRIGGER; some versions show them to others, too.
_FILLED = f"{_KEPT}, CREATE TEMPORARY TABLES, TRIGGER"
_IS_MARIADB = "VERSION() LIKE '%MariaDB%'"
# Texts of the script are read as they are written, whatever the administrator's session has. A grant to an account that
# is not there fails: it would make one without a password.
_SESSION = (
    "SET NAMES utf8mb4",
    # MySQL never makes one so, and does not know that mode.
    f"SET SESSION sql_mode = CONCAT('STRICT_ALL_TABLES', IF({_IS_MARIADB}, ',NO_AUTO_CREATE_USER', ''))",
)
# MariaDB knows the second one as BINLOG MONITOR.
_LOG = "REPLICATION SLAVE, REPLICATION CLIENT"


def for_source(info: ConnectionInfo, resources: Resources, schemas: Collection[str], *, activity: bool) -> str:
    """The script for the account of a source's connection.

    Args:
        schemas: the databases of the watched tables.
        activity: let it see the sessions of others, with their statements.

    Raises:
        ConfigError: SLC-014, the connection has no login.
    """
    rights = [(f"{_LOG}, PROCESS" if activity else _LOG, "*.*"), (_KEPT, all_of(resources.schema))]
    read = ((_READ, all_of(schema), _LOCKED) for schema in sorted(schemas))
    kept = composed("grants/kept").rstrip()
    return ";\n".join([_script(info.login, [*rights, *read]), kept, *_prepared("given")])


def for_slave(info: ConnectionInfo, schema: str, schemas: Collection[str], tables: Collection[TableName]) -> str:
    """The script for the account of a slave's connection. Asks no server. Rights are on databases: those on a table
    alone would hide its constraints.

    Args:
        schema: the database of the tables that Sluice keeps there, which the script makes if it is missing.
        schemas: those of the replicated tables.

    Raises:
        ConfigError: SLC-014, there is no login.
    """
    rights = [(f"{_KEPT}, LOCK TABLES, TRIGGER", all_of(schema))]
    rights += [(_FILLED, all_of(one)) for one in sorted({*schemas, *(name.schema for name in tables)})]
    return _script(info.login, rights, f"CREATE DATABASE IF NOT EXISTS {quoted(schema)}")


def for_altering(schemas: Collection[str]) -> str:
    """The end of the script of `for_slave`, where ALTERs of the master are carried out."""
    return ";\n".join(_given("ALTER", all_of(one)) for one in sorted(schemas))


def all_of(schema: str) -> Sql:
    """A database and no other: `_` and `%` would stand for any signs in a grant."""
    plain = schema.replace("\\", "\\\\").replace("_", "\\_").replace("%", "\\%")
    return Sql(f"{quoted(plain)}.*")


def _script(login: str, rights: Iterable[tuple[str, ...]], *first: str) -> str:
    if not login:
        raise ConfigError(
            14,
            "the connection has no login, and rights without an account would be everybody's",
            f"nothing was printed; make an account (CREATE USER), and type {shell.connect('CONNECTION')} with it",
        )
    given = [_given(*one) for one in rights]
    written = f"'{_text(login)}'"
    asked, account = (composed(f"grants/{one}", login=written).rstrip() for one in ("asked", "account"))
    return ";\n".join([*_SESSION, asked, *_prepared("asked"), account, *given, *first])


def _given(rights: str, what: str, more: str = "") -> str:
    """A grant; on MySQL of more rights, too."""
    begin, end = f"'{_text(f'GRANT {rights}')}'", f"'{_text(f' ON {what} TO ')}'"
    also = f", IF({_IS_MARIADB}, '', ', {more}')" if more else ""
    text = f"SET @given = CONCAT({begin}{also}, {end}, @account)"
    return ";\n".join([text, *_prepared("given")])


def _prepared(name: str) -> tuple[str, str]:
    """A statement in a variable of that name is executed, in a form that MariaDB and MySQL have."""
    return f"PREPARE {name} FROM @{name}", f"EXECUTE {name}"


def _text(text: str) -> str:
    return str(escape_string(text))
