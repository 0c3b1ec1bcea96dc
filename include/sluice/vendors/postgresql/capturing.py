"""Installing the DbResources and the capture of each watched table; the registry TABLES is its memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import LiteralString, cast

from psycopg import sql

from sluice import sqlfiles
from sluice.errors import ConfigError
from sluice.model.names import Resources, TableName
from sluice.vendors.postgresql.session import Connection, composed
from sluice.vendors.protocol import Installed, Watch

_RESOURCES = (
    "seq",
    "queue",
    "layouts",
    "tables",
    "current_tables",
    "debug_table",
    "state",
    "increment",
    "needs_prot",
    "col2xml",
    "items",
    "current_layout",
    "record_layout",
    "altered",
    "mark_function",
)
_EVENTS = {"I": "INSERT", "U": "UPDATE", "D": "DELETE"}
# Triggers of one event fire in the order of their names, and keys must be drawn after the checks of the same row (R1).
_CHECKS_END = "RI_ConstraintTrigger_"


@dataclass(frozen=True)
class _Entry:
    """One row of TABLES, with what the catalog says of its table."""

    name: TableName
    actions: str
    trigger: str
    status: str
    debug: int


def parts_of(resources: Resources) -> dict[str, sql.Composable]:
    """What fills the placeholders of the SQL files: every DbResource, qualified and quoted."""
    parts: dict[str, sql.Composable] = {
        name: sql.Identifier(resources.schema, resources.name(name)) for name in _RESOURCES
    }
    quoted = ".".join('"' + part.replace('"', '""') + '"' for part in (resources.schema, resources.name("seq")))
    return {**parts, "seq_name": sql.Literal(quoted)}


def install(
    connection: Connection, resources: Resources, watched: Mapping[TableName, Watch], *, recreate: bool
) -> Installed:
    """Everything the capture needs, inside the caller's transaction, which is committed at the end.

    Raises:
        ConfigError: SLC-040 if a watched table is missing or is none, SLC-041 if a trigger's name would break R1.
        TransientError: SLC-036 if a table stays locked; nothing was changed then.
    """
    parts = parts_of(resources)
    execute = connection.execute
    # One at a time; and never queue the application behind us for long.
    execute("SELECT pg_advisory_xact_lock(hashtext('sluice bootstrap'), hashtext(%s))", [resources.name("")])
    execute("SET LOCAL lock_timeout = '3s'")
    for name in sqlfiles.names("postgresql", "bootstrap"):
        execute(composed(name, **parts))
    execute(composed("capture/mark_function", **parts))
    _watch_ddl(connection, resources, parts)
    installed = _reconcile(connection, resources, parts, watched, recreate)
    connection.commit()
    return installed


def _watch_ddl(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    row = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
    if not (row and row[0]):
        return
    connection.execute(composed("capture/altered", **parts))
    name = f"{resources.schema}_{resources.name('altered')}"[:63]
    if not connection.execute("SELECT 1 FROM pg_event_trigger WHERE evtname = %s", [name]).fetchone():
        connection.execute(composed("capture/event_trigger", **parts, event_trigger=name))


def _reconcile(
    connection: Connection,
    resources: Resources,
    parts: Mapping[str, sql.Composable],
    watched: Mapping[TableName, Watch],
    recreate: bool,
) -> Installed:
    registered = _registered(connection, parts)
    added = []
    for name, watch in watched.items():
        relation = _relation(connection, name)
        trigger = _trigger_name(connection, resources, relation, name, watch)
        actions = "" if watch.actions == "none" else watch.actions
        old = registered.get(name)
        if old is None:
            connection.execute(
                composed("capture/register", **parts),
                {"schema": name.schema, "table": name.table, "actions": actions, "trigger": trigger},
            )
        intact = old is not None and old.status == "OK" and (old.actions, old.trigger) == (actions, trigger)
        if recreate or not intact or not _fires(connection, relation, trigger, actions):
            if old is not None:
                _drop_triggers(connection, name, old.trigger)
            _create_triggers(connection, resources, parts, _Entry(name, actions, trigger, "OK", old.debug if old else 0))
            connection.execute(
                composed("capture/registered", **parts),
                {"schema": name.schema, "table": name.table, "actions": actions, "trigger": trigger},
            )
            added.append(name)
    removed = tuple(name for name in registered if name not in watched)
    for name in removed:
        _drop_triggers(connection, name, registered[name].trigger)
        connection.execute(composed("capture/unregister", **parts), {"schema": name.schema, "table": name.table})
    connection.execute(composed("capture/current_tables", **parts))
    return Installed(tuple(added), removed)


def _registered(connection: Connection, parts: Mapping[str, sql.Composable]) -> dict[TableName, _Entry]:
    rows = connection.execute(
        sql.SQL("SELECT schemaname, tablename, coalesce(actions, 'IUD'), trigger_name, status, debug FROM {}").format(
            parts["tables"]
        )
    )
    return {
        TableName(schema, table): _Entry(TableName(schema, table), actions.strip(), trigger, status, debug)
        for schema, table, actions, trigger, status, debug in rows
    }


def _relation(connection: Connection, name: TableName) -> int:
    row = connection.execute(
        "SELECT class.oid, relkind FROM pg_class AS class JOIN pg_namespace AS namespace"
        " ON namespace.oid = relnamespace WHERE nspname = %s AND relname = %s",
        [name.schema, name.table],
    ).fetchone()
    if row is None or row[1] not in "rp":
        what = "does not exist" if row is None else "is not a table"
        raise ConfigError(
            40, f"the watched table {name} {what} on the source", "mend `tables` in the configuration, nothing was changed"
        )
    return int(row[0])


def _trigger_name(connection: Connection, resources: Resources, relation: int, name: TableName, watch: Watch) -> str:
    trigger = watch.trigger or f"z{resources.name('capture')}"
    if trigger <= _CHECKS_END:
        raise ConfigError(
            41,
            f"the trigger {trigger} of {name} would fire before the table's foreign keys are checked",
            f"choose a name that sorts after {_CHECKS_END}, such as z{trigger.lower()}",
        )
    if len(trigger.encode()) > 61:
        raise ConfigError(41, f"the trigger name {trigger} is too long", "at most 61 bytes")
    row = connection.execute(
        "SELECT namespace.nspname || '.' || proname FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid"
        " JOIN pg_namespace AS namespace ON namespace.oid = pronamespace WHERE tgrelid = %s AND tgname = %s",
        [relation, trigger],
    ).fetchone()
    if row and not str(row[0]).startswith(f"{resources.schema}.{resources.name('capture_')}"):
        raise ConfigError(41, f"{name} has a trigger {trigger} of its own", "give the table another `trigger`")
    return trigger


def _fires(connection: Connection, relation: int, trigger: str, actions: str) -> bool:
    wanted = 2 if actions else 0
    row = connection.execute(
        "SELECT count(*) FROM pg_trigger WHERE tgrelid = %s AND tgname = ANY (%s) AND tgenabled = 'A'",
        [relation, [trigger, f"{trigger}_t"]],
    ).fetchone()
    return bool(row and row[0] == wanted)


def _create_triggers(
    connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable], entry: _Entry
) -> None:
    execute = connection.execute
    table = sql.Identifier(entry.name.schema, entry.name.table)
    relation = _relation(connection, entry.name)
    _drop_triggers(connection, entry.name, entry.trigger)
    if entry.actions:
        function = sql.Identifier(resources.schema, resources.name(f"capture_{relation}"))
        debug = composed("capture/debug_line", **parts) if entry.debug else sql.SQL("")
        execute(composed("capture/trigger_function", **parts, function=function, debug=debug))
        events = sql.SQL(cast(LiteralString, " OR ".join(_EVENTS[action] for action in entry.actions)))
        row = {"table": table, "function": function}
        execute(composed("capture/row_trigger", **row, trigger=entry.trigger, events=events))
        execute(composed("capture/truncate_trigger", **row, trigger=f"{entry.trigger}_t"))
        for trigger in (entry.trigger, f"{entry.trigger}_t"):
            execute(composed("capture/enable_always", table=table, trigger=trigger))
    execute(sql.SQL("SELECT {}(%s)").format(parts["record_layout"]), [relation])
    if entry.actions and _has_deferrable(connection, relation):
        trigger = f"{entry.trigger}_c"
        execute(composed("capture/mark_trigger", **parts, table=table, trigger=trigger))
        execute(composed("capture/enable_always", table=table, trigger=trigger))


def _has_deferrable(connection: Connection, relation: int) -> bool:
    row = connection.execute(
        "SELECT EXISTS (SELECT FROM pg_constraint WHERE (conrelid = %s OR confrelid = %s) AND condeferrable"
        " AND contype <> 't')",
        [relation, relation],
    ).fetchone()
    return bool(row and row[0])


def _drop_triggers(connection: Connection, name: TableName, trigger: str) -> None:
    found = connection.execute(
        "SELECT FROM pg_class AS class JOIN pg_namespace AS namespace ON namespace.oid = relnamespace"
        " WHERE nspname = %s AND relname = %s",
        [name.schema, name.table],
    ).fetchone()
    if found is None:
        return
    table = sql.Identifier(name.schema, name.table)
    for suffix in ("", "_t", "_c"):
        drop = sql.SQL("DROP TRIGGER IF EXISTS {} ON {}")
        connection.execute(drop.format(sql.Identifier(trigger + suffix), table))
