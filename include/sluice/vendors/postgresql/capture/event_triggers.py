"""Seeing DDL on the source as it happens: the event triggers, where the role may make them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql

from sluice.model.names import Resources, TableName
from sluice.model.watched import WatchSettings
from sluice.vendors.postgresql.catalog import relations
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
            "CREATE TRIGGER",
        ),
    ),
    "dropped": ("sql_drop", ()),
    "dropper": ("ddl_command_start", ("DROP TABLE",)),
    "dropping": ("ddl_command_start", ("DROP TABLE",)),
    "kept": ("ddl_command_end", ("DROP TABLE",)),
    "rewritten": ("table_rewrite", ()),
}

# The name of an event trigger that is never made.
_TRIED = "sluice_tries"

# Of a role's name, where another is to be made of it.
_LONGEST = 59


@dataclass(frozen=True)
class _Made:
    """An event trigger; `enabled` is A if it fires in every session."""

    name: str
    tags: Sequence[str]
    enabled: str
    body: str


def may_watch_ddl(connection: Connection) -> bool:
    """Whether the role may make event triggers. It tries to, once in a session."""
    query = "SELECT rolsuper, current_setting('sluice.may_watch_ddl', true) FROM pg_roles WHERE rolname = current_user"
    superuser, told = connection.execute(query).fetchone() or (False, None)
    if not superuser and not told:
        connection.execute(composed("capture/events/may_watch", event_trigger=_TRIED))
        return may_watch_ddl(connection)
    return bool(superuser or told == "yes")


def are_on(connection: Connection) -> bool:
    """Whether the server lets event triggers fire, which a setting of PostgreSQL 17 can keep it from."""
    row = connection.execute("SELECT coalesce(current_setting('event_triggers', true), 'on') = 'on'").fetchone()
    return row == (True,)


def sees_ddl(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> bool:
    """Whether DDL is seen as it happens: by event triggers that the role may make, or that somebody who may made for it
    as this version makes them.
    """
    if may_watch_ddl(connection):
        return True
    made = _made(connection, resources)
    return all(
        function in made
        and (set(made[function].tags), made[function].enabled) == (set(tags), "A")
        and made[function].body in composed(f"capture/events/{function}", **parts).as_string(connection)
        for function, (_, tags) in _EVENTS.items()
    )


def is_outdated(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> bool:
    """Whether somebody made event triggers for the role, and they are not as this version makes them."""
    return bool(_made(connection, resources)) and not sees_ddl(connection, resources, parts)


def is_blind(connection: Connection, resources: Resources) -> bool:
    """Whether event triggers that the role may create are missing or disabled."""
    enabled = [made for made in _made(connection, resources).values() if made.enabled == "A"]
    return len(enabled) < len(_EVENTS) and may_watch_ddl(connection)


def deafen(connection: Connection, resources: Resources) -> list[str]:
    """Drop the event triggers, if the role may: those of an older version do not know the tables of this one, which
    makes them again. The names of others, which stay.
    """
    names = [made.name for made in _made(connection, resources).values()]
    if not may_watch_ddl(connection):
        return names
    for name in names:
        connection.execute(sql.SQL("DROP EVENT TRIGGER {}").format(sql.Identifier(name)))
    return []


@contextmanager
def unheard(connection: Connection, parts: Mapping[str, sql.Composable]) -> Iterator[None]:
    """A part of a transaction of ours: what it does to tables is no DDL of the application."""
    note = sql.SQL("SELECT {}('installing'::text, %s::oid[])").format(parts["note"])
    connection.execute(note, [[0]])
    yield
    connection.execute(note, [[]])


def eligible(connection: Connection, schemas: Collection[str]) -> list[TableName]:
    """The tables of these schemas that wildcards may take."""
    query = sql.SQL("SELECT schemaname, relname FROM ({}) AS living WHERE schemaname = ANY (%s) ORDER BY 1, 2")
    rows = connection.execute(query.format(composed("catalog/eligible")), [list(schemas)])
    return [TableName(*row) for row in rows]


def want(connection: Connection, parts: Mapping[str, sql.Composable], wanted: WatchSettings) -> None:
    """Let the source know what of the configuration decides about tables that are made later."""
    given: dict[str, object] = {"detection": wanted.detection, "initial_content": wanted.initial_content}
    given |= {"trusted_code": list(wanted.trusted_code), "by_log": wanted.by_log}
    given["max_row_bytes"] = wanted.max_row_bytes
    connection.execute(composed("capture/registry/settings", **parts), given)
    connection.execute(sql.SQL("DELETE FROM {}").format(parts["wanted"]))
    with connection.cursor() as cursor:
        cursor.executemany(
            composed("capture/registry/want", **parts),
            [
                {
                    "schema": pattern.schema,
                    "table": pattern.table,
                    "wildcard": pattern.wildcard,
                    "excluded": pattern.excluded,
                    "actions": "" if watch.actions == "none" else watch.actions,
                    "trigger": watch.trigger,
                    "debug": watch.debug,
                    "old_images": watch.old_images,
                }
                for pattern, watch in wanted.entries.items()
            ],
        )


def watch_ddl(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Make the event triggers, or make them again if they fire for other statements."""
    if not may_watch_ddl(connection):
        return
    existing = _made(connection, resources)
    for function, (_, tags) in _EVENTS.items():
        connection.execute(composed(f"capture/events/{function}", **parts))
        if made := existing.get(function):
            if (made.name, set(made.tags), made.enabled) == (resources.everywhere(function), set(tags), "A"):
                continue
            connection.execute(sql.SQL("DROP EVENT TRIGGER {}").format(sql.Identifier(made.name)))
        for statement in _making(resources, parts, function):
            connection.execute(statement)


def for_another(
    connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable], login: str
) -> list[sql.Composed]:
    """The statement that somebody who may executes once to create event triggers for a role that may not; none before
    the DbResources exist.

    Whose DDL sets them off must not execute what that role has written: the functions belong to another role, which has
    the rights of that role, and which that role is no member of.
    """
    state = TableName(resources.schema, resources.name("state"))
    if may_watch_ddl(connection) or not relations.existing(connection, [state]):
        return []
    keeper = {"role_name": sql.Literal(login), "keeper_name": sql.Literal(keeper_of(login))}
    making, firing = [], []
    for function in _EVENTS:
        making.append(composed(f"capture/events/{function}", **parts))
        dropping = sql.SQL("DROP EVENT TRIGGER IF EXISTS {}")
        firing += [dropping.format(sql.Identifier(resources.everywhere(function)))]
        firing += _making(resources, parts, function)
    return [
        composed(
            "capture/grants/events",
            **keeper,
            event_trigger=_TRIED,
            schema_name=sql.Literal(resources.schema),
            functions=sql.Literal([resources.name(function) for function in _EVENTS]),
            keeper=composed("capture/grants/keeper", **keeper),
            making=sql.SQL(";\n").join(making),
            firing=sql.SQL(";\n").join(firing),
        )
    ]


def keeper_of(login: str) -> str:
    """The role that owns the functions of event triggers which somebody else made for the role of this name."""
    return login.encode()[:_LONGEST].decode(errors="ignore") + "_ddl"


def _making(resources: Resources, parts: Mapping[str, sql.Composable], function: str) -> Iterator[sql.Composed]:
    event, tags = _EVENTS[function]
    name = resources.everywhere(function)
    listed = sql.SQL(", ").join(map(sql.Literal, tags))
    when = sql.SQL("WHEN TAG IN ({})").format(listed) if tags else sql.SQL("")
    yield composed(
        "capture/events/event_trigger", event_trigger=name, event=sql.SQL(event), tags=when, function=parts[function]
    )
    # Sessions with session_replication_role = replica alter tables too (R9).
    yield sql.SQL("ALTER EVENT TRIGGER {} ENABLE ALWAYS").format(sql.Identifier(name))


def _made(connection: Connection, resources: Resources) -> dict[str, _Made]:
    """The existing event triggers by their functions, also if they were renamed."""
    query = """
        SELECT proname, evtname, coalesce(evttags, '{}'), evtenabled, prosrc
        FROM pg_event_trigger JOIN pg_proc AS called ON called.oid = evtfoid
        JOIN pg_namespace AS namespace ON namespace.oid = pronamespace
        WHERE proname = ANY (%s) AND nspname = %s
    """
    functions = {resources.name(function): function for function in _EVENTS}
    rows = connection.execute(query, [list(functions), resources.schema])
    return {functions[called]: _Made(*row) for called, *row in rows}


def wants(connection: Connection, parts: Mapping[str, sql.Composable], name: TableName) -> bool:
    """Whether the configuration wants a table, and it is there."""
    query = composed("capture/registry/wanted_now", **parts, living=composed("catalog/eligible"))
    return connection.execute(query, {"schema": name.schema, "table": name.table}).fetchone() is not None
