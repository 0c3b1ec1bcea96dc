"""Ownership of our objects in other people's databases: our own schema, and nothing in it that others can change."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError
from sluice.model.names import RESOURCES, Resources
from sluice.vendors.managed import OWNER
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.migrations import IN_SLAVE
from sluice.vendors.postgresql.session import Connection, composed, connect

# The schema in which others may often make things.
SHARED = "public"

# The triggers that DbResources have.
_TRIGGERS = (
    ("notes", "mark"),
    ("queue", "sluice_guard"),
    ("tables", "sluice_registering"),
    ("tables", "sluice_registering_after"),
)


@dataclass(frozen=True)
class _Creator:
    """A role that may create objects in a schema, the statement that revokes it, and whether it owns the schema."""

    who: str
    ending: str
    owns: bool


def make_schema(connection: Connection, resources: Resources) -> None:
    """Make the schema of the DbResources, if the configuration names none."""
    known = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = %s)"
    if resources.is_home and connection.execute(known, [resources.schema]).fetchone() == (False,):
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(resources.schema)))
        for creator in _creators(connection, resources.schema):
            connection.execute(creator.ending.encode())


def drop_schema(connection: Connection, resources: Resources) -> None:
    """Drop the schema that `make_schema` created, if it is empty and ours."""
    empty = "SELECT NOT EXISTS (SELECT FROM pg_depend WHERE refobjid = oid AND refclassid = 'pg_namespace'::regclass)"
    query = f"{empty} FROM pg_namespace WHERE nspname = %s AND pg_get_userbyid(nspowner) = current_user"
    if resources.is_home and connection.execute(query.encode(), [resources.schema]).fetchone() == (True,):
        connection.execute(sql.SQL("DROP SCHEMA {}").format(sql.Identifier(resources.schema)))


def refuse_strange(connection: Connection, resources: Resources) -> None:
    """See that the DbResources are ours alone.

    Raises:
        SluiceError: SLC-291, one of them is somebody else's; others may make things beside them.
    """
    names = [resources.name(name) for name in RESOURCES]
    generated = f"^{re.escape(resources.name('capture_'))}[0-9]+$"
    made = [f"{resources.name(table)} {trigger}" for table, trigger in _TRIGGERS]
    published = [resources.everywhere(name) for name in ("rows", "commands")]
    if found := _strange(connection, resources.schema, names, names, generated, made, published):
        raise SluiceError(
            291,
            f"among the DbResources is what others can change: {'; '.join(what for what, _ in found)}",
            f"nothing was done, since it could act with the rights of {connection.info.user}. See what it is, and "
            f"whether it has run; then let {OWNER}, say: {'; '.join(ending for _, ending in found)}. "
            "Then trigger the DAG bootstrap with `recreate_triggers` at once: it makes functions anew, and what is "
            "missing. Changes that a renamed table holds, or that a publication of others kept out of the log, "
            "are not published: fill the slaves by initial_update then",
        )
    # What others make in `public` is a remark; who owns it could drop ours, and make others in their place.
    refused = [one for one in _creators(connection, resources.schema) if one.owns or resources.schema != SHARED]
    if refused:
        raise SluiceError(
            291,
            f"others may make things in the schema {resources.schema} of the DbResources: "
            f"{', '.join(one.who for one in refused)}",
            "nothing was done. If an application has things there, leave the schema as it is, make another one (CREATE "
            "SCHEMA sluice), and name that as `schema` of the source in the configuration. Else let "
            f"{OWNER}, say: {'; '.join(one.ending for one in refused)}",
        )


def existing(connection: Connection, schema: str, names: Collection[str]) -> list[str]:
    """The names of tables, views and sequences that exist in the schema."""
    query = "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(%s)) AND relname = ANY (%s)"
    return [name for (name,) in connection.execute(query, [schema, list(names)])]


def keep_to_ourselves(connection: Connection, schema: str, names: Collection[str], known: Collection[str]) -> None:
    """Take rights back that default privileges gave others on what was just made: all of them. Of what was there before
    the right to make triggers alone, which would run with our rights.
    """
    for (statement,) in connection.execute(
        composed("ownership/granted", schema_name=sql.Literal(schema)), {"names": list(names), "known": list(known)}
    ).fetchall():
        connection.execute(statement.encode())


def refuse_strange_in_slave(connection: Connection, schema: str) -> None:
    """See that what we keep in a slave is ours alone.

    Raises:
        SluiceError: SLC-291, a table is somebody else's, or does what somebody else says.
    """
    if found := _strange(connection, schema, IN_SLAVE, (), "^$", (), ()):
        raise SluiceError(
            291,
            f"among our tables in the slave is what others can change: {'; '.join(what for what, _ in found)}",
            f"nothing was done, since it could act with the rights of {connection.info.user}. See what it is; then let "
            f"{OWNER}, say: {'; '.join(ending for _, ending in found)}. A table that is renamed is made anew, "
            "empty: if it was ours, fill the slave by initial_update then",
        )


def session_on_slave(info: ConnectionInfo, application: str, schema: str, **settings: str) -> Connection:
    """A session that relies on what we keep in a slave.

    Args:
        settings: see `connect`.

    Raises:
        SluiceError: SLC-291, see `refuse_strange_in_slave`.
    """
    session = connect(info, application, autocommit=True, **settings)
    try:
        with translated("looking at our tables in the slave"):
            refuse_strange_in_slave(session, schema)
    except BaseException:
        session.close()
        raise
    return session


def remarks(connection: Connection, resources: Resources) -> list[str]:
    """Warnings about a schema that is shared with others."""
    others = _creators(connection, resources.schema) if resources.schema == SHARED else {}
    if not others:
        return []
    return [
        f"others may make things in the schema {SHARED} of the DbResources ({', '.join(one.who for one in others)}): "
        f"say {'; '.join(one.ending for one in others)}"
    ]


def _strange(
    connection: Connection,
    schema: str,
    names: Collection[str],
    functions: Collection[str],
    generated: str,
    triggers: Collection[str],
    publications: Collection[str],
) -> list[tuple[str, str]]:
    query = composed(
        "ownership/strange",
        schema_name=sql.Literal(schema),
        names=sql.SQL("{}::text[]").format(sql.Literal(list(names))),
        functions=sql.SQL("{}::text[]").format(sql.Literal(list(functions))),
        generated=sql.Literal(generated),
        triggers=sql.SQL("{}::text[]").format(sql.Literal(list(triggers))),
        publications=sql.SQL("{}::text[]").format(sql.Literal(list(publications))),
    )
    return [(what, ending) for what, ending in connection.execute(query)]


def _creators(connection: Connection, schema: str) -> list[_Creator]:
    rows = connection.execute(composed("ownership/creators", schema_name=sql.Literal(schema)))
    return [_Creator(*row) for row in rows]
