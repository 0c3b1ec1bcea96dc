"""Seeing DDL on the source as it happens: the event triggers, where the role may make them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import LiteralString

from psycopg import sql

from sluice.model.names import Resources, TableName
from sluice.model.wanted import Wanted
from sluice.vendors.postgresql.definition import regclass
from sluice.vendors.postgresql.session import Connection, composed

# Function -> the event it runs at, and the statements that may change what a watched table is.
_EVENTS: dict[str, tuple[LiteralString, tuple[LiteralString, ...]]] = {
    "altered": (
        "ddl_command_end",
        (
            "ALTER TABLE",
            "ALTER SCHEMA",
            "ALTER TYPE",
            "ALTER DOMAIN",
            # ALTER INDEX t RENAME TO u, and ALTER VIEW t RENAME a TO b (or one of the last two) do so to a table t.
            "ALTER INDEX",
            "ALTER VIEW",
            "ALTER MATERIALIZED VIEW",
            "ALTER FOREIGN TABLE",
            "CREATE TABLE",
            "CREATE TABLE AS",
            "SELECT INTO",
            "CREATE SCHEMA",
        ),
    ),
    "dropped": ("sql_drop", ()),
    "dropper": ("ddl_command_start", ("DROP TABLE",)),
    "dropping": ("ddl_command_start", ("DROP TABLE",)),
    "kept": ("ddl_command_end", ("DROP TABLE",)),
    "rewritten": ("table_rewrite", ()),
}


def may_see_ddl(connection: Connection) -> bool:
    """Whether the role may make event triggers."""
    row = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
    return bool(row and row[0])


def is_blind(connection: Connection, resources: Resources) -> bool:
    """Whether event triggers that the role may make are missing or do not fire: somebody dropped or disabled them."""
    there = [name for name, enabled in _made(connection, resources) if enabled == "A"]
    return len(there) < len(_EVENTS) and may_see_ddl(connection)


def deafen(connection: Connection, resources: Resources) -> None:
    """Drop the event triggers: those of an older version do not know the tables of this one, which makes them again."""
    if may_see_ddl(connection):
        for name, _ in _made(connection, resources):
            connection.execute(sql.SQL("DROP EVENT TRIGGER {}").format(sql.Identifier(name)))


@contextmanager
def unheard(connection: Connection, parts: Mapping[str, sql.Composable]) -> Iterator[None]:
    """A part of a transaction of ours: what it does to tables is no DDL of the application."""
    note = sql.SQL("SELECT {}('installing', %s::oid[])").format(parts["note"])
    connection.execute(note, [[0]])
    yield
    connection.execute(note, [[]])


def eligible(connection: Connection, schemas: Collection[str]) -> list[TableName]:
    """The tables of these schemas that wildcards may take."""
    query = sql.SQL("SELECT schemaname, relname FROM ({}) AS living WHERE schemaname = ANY (%s) ORDER BY 1, 2")
    rows = connection.execute(query.format(composed("catalog/eligible")), [list(schemas)])
    return [TableName(*row) for row in rows]


def want(connection: Connection, parts: Mapping[str, sql.Composable], wanted: Wanted) -> None:
    """Let the source know what of the configuration decides about tables that are made later."""
    given = {"detection": wanted.detection, "initial_content": wanted.initial_content}
    connection.execute(composed("capture/settings", **parts), given)
    connection.execute(sql.SQL("DELETE FROM {}").format(parts["wanted"]))
    with connection.cursor() as cursor:
        cursor.executemany(
            composed("capture/want", **parts),
            [
                {
                    "schema": pattern.schema,
                    "table": pattern.table,
                    "wildcard": pattern.wildcard,
                    "excluded": pattern.excluded,
                    "actions": "" if watch.actions == "none" else watch.actions,
                    "trigger": watch.trigger,
                    "debug": watch.debug,
                }
                for pattern, watch in wanted.entries.items()
            ],
        )


def watch_ddl(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Make the event triggers, or make them again if they fire for other statements."""
    if not may_see_ddl(connection):
        return
    for function, (event, tags) in _EVENTS.items():
        connection.execute(composed(f"capture/{function}", **parts))
        name = resources.everywhere(function)
        called = regclass(TableName(resources.schema, resources.name(function)))
        query = "SELECT evtname, evttags, evtenabled FROM pg_event_trigger WHERE evtfoid = to_regproc(%s)"
        if found := connection.execute(query, [called]).fetchone():
            if (found[0], set(found[1] or ()), found[2]) == (name, set(tags), "A"):
                continue
            connection.execute(sql.SQL("DROP EVENT TRIGGER {}").format(sql.Identifier(found[0])))
        listed = sql.SQL(", ").join(map(sql.Literal, tags))
        when = sql.SQL("WHEN TAG IN ({})").format(listed) if tags else sql.SQL("")
        connection.execute(
            composed(
                "capture/event_trigger", event_trigger=name, event=sql.SQL(event), tags=when, function=parts[function]
            )
        )
        # Sessions with session_replication_role = replica alter tables too (R9).
        connection.execute(sql.SQL("ALTER EVENT TRIGGER {} ENABLE ALWAYS").format(sql.Identifier(name)))


def _made(connection: Connection, resources: Resources) -> list[tuple[str, str]]:
    """The event triggers that are there, whatever they are called by now, and whether they fire always (A)."""
    query = """
        SELECT evtname, evtenabled FROM pg_event_trigger JOIN pg_proc AS called ON called.oid = evtfoid
        JOIN pg_namespace AS namespace ON namespace.oid = pronamespace
        WHERE proname = ANY (%s) AND nspname = %s
    """
    names = [resources.name(function) for function in _EVENTS]
    return connection.execute(query, [names, resources.schema]).fetchall()


def called_now(connection: Connection, parts: Mapping[str, sql.Composable], name: TableName) -> TableName | None:
    """What a table that was watched under this name is called today, if its name is free and it has another."""
    row = connection.execute(
        composed("capture/called_now", **parts), {"schema": name.schema, "table": name.table}
    ).fetchone()
    return TableName(*row) if row else None


def wants(connection: Connection, parts: Mapping[str, sql.Composable], name: TableName) -> bool:
    """Whether the configuration wants a table, and it is there."""
    query = composed("capture/wanted_now", **parts, living=composed("catalog/eligible"))
    return connection.execute(query, {"schema": name.schema, "table": name.table}).fetchone() is not None
