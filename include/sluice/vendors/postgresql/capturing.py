"""Installing the DbResources and the capture of each watched table; the registry TABLES is its memory."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import LiteralString

import psycopg
from psycopg import sql

from sluice import sqlfiles
from sluice.errors import ConfigError, TransientError
from sluice.model.names import Resources, TableName
from sluice.vendors.postgresql import catalog
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
# Triggers of one event fire in the order of their names. Keys must be drawn after the checks of the same row (R1), but
# before a trigger of the application writes that row again: its change is a later one.
_CHECKS = "RI_ConstraintTrigger_"
_AFTER_CHECKS = "RI_z_"
_LOCK_TRIES = 30


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
    connection: Connection,
    resources: Resources,
    watched: Mapping[TableName, Watch],
    *,
    recreate: bool,
    unreadable: Collection[TableName] = (),
) -> Installed:
    """Everything the capture needs, inside the caller's transaction, which is committed at the end.

    Args:
        unreadable: tables whose columns changed unseen: these are recorded now, and the images of before are forgotten,
            since none of them tells under which columns it was written.

    Raises:
        ConfigError: SLC-040 if a watched table is missing or is none, SLC-041 if a trigger's name would break R1.
        TransientError: SLC-036 if a table stays locked; nothing was changed then.
    """
    parts = parts_of(resources)
    execute = connection.execute
    # One bootstrap of a prefix at a time.
    execute("SELECT pg_advisory_xact_lock(hashtext('sluice bootstrap'), hashtext(%s))", [resources.name("")])
    for name in sqlfiles.names("postgresql", "bootstrap"):
        execute(composed(name, **parts))
    execute(composed("capture/mark_function", **parts))
    _watch_ddl(connection, resources, parts)
    installed = _reconcile(connection, resources, parts, watched, watched if recreate else unreadable)
    for table in unreadable:
        connection.execute(composed("capture/forget_images", **parts), {"relation": _relation(connection, table)})
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
    again: Collection[TableName],
) -> Installed:
    registered = _registered(connection, parts)
    wanted = {name: _entry(connection, resources, name, watch) for name, watch in watched.items()}
    added = [
        entry
        for name, entry in wanted.items()
        if name in again or registered.get(name) != entry or not _fires(connection, entry)
    ]
    removed = [entry for name, entry in registered.items() if name not in watched]
    replaced = [old for entry in added if (old := registered.get(entry.name)) and not _same_triggers(old, entry)]
    _lock(connection, [entry.name for entry in added], "SHARE ROW EXCLUSIVE")
    _lock(connection, [entry.name for entry in (*replaced, *removed)], "ACCESS EXCLUSIVE")
    for entry in replaced:
        _drop_triggers(connection, entry)
    for entry in added:
        connection.execute(composed("capture/register", **parts), _row(entry))
        _create_triggers(connection, resources, parts, entry)
        connection.execute(composed("capture/registered", **parts), _row(entry))
    for entry in removed:
        _drop_triggers(connection, entry)
        connection.execute(composed("capture/unregister", **parts), _row(entry))
    connection.execute(composed("capture/current_tables", **parts))
    return Installed(tuple(entry.name for entry in added), tuple(entry.name for entry in removed))


def _lock(connection: Connection, names: Sequence[TableName], mode: LiteralString) -> None:
    """Lock tables, all at once or none, and wait for less than the time after which a server looks for deadlocks: no
    statement of a user, waiting for us while we wait for it, is ended as the victim (R9)."""
    tables = [_identifier(name) for name in names if _exists(connection, name)]
    if not tables:
        return
    lock = sql.SQL("LOCK TABLE {} IN {} MODE").format(sql.SQL(", ").join(tables), sql.SQL(mode))
    for attempt in range(_LOCK_TRIES):
        try:
            with connection.transaction():
                connection.execute("SET LOCAL statement_timeout = '400ms'")
                connection.execute(lock)
                connection.execute("SET LOCAL statement_timeout = 0")
                return
        except psycopg.errors.QueryCanceled:
            time.sleep(0.1 + 0.05 * attempt)
    raise TransientError(
        36,
        f"{', '.join(map(str, names))} cannot be locked to install triggers: transactions that change them stay open",
        "nothing was changed; the run tries again by itself. See pg_stat_activity for transactions open for long",
    )


def _entry(connection: Connection, resources: Resources, name: TableName, watch: Watch) -> _Entry:
    """What TABLES is to say of a watched table. Raises ConfigError SLC-040 or SLC-041."""
    relation = _relation(connection, name)
    trigger = _trigger_name(connection, resources, relation, name, watch)
    actions = "" if watch.actions == "none" else watch.actions
    return _Entry(name, actions, trigger, "OK", _debug(connection, resources, name))


def _debug(connection: Connection, resources: Resources, name: TableName) -> int:
    """The debug flag is set in TABLES by hand, and stays."""
    table = sql.Identifier(resources.schema, resources.name("tables"))
    query = sql.SQL("SELECT debug FROM {} WHERE schemaname = %s AND tablename = %s").format(table)
    row = connection.execute(query, [name.schema, name.table]).fetchone()
    return int(row[0]) if row else 0


def _row(entry: _Entry) -> dict[str, str]:
    name = entry.name
    return {"schema": name.schema, "table": name.table, "actions": entry.actions, "trigger": entry.trigger}


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
            40,
            f"the watched table {name} {what} on the source",
            "mend `tables` in the configuration, nothing was changed",
        )
    return int(row[0])


def _trigger_name(connection: Connection, resources: Resources, relation: int, name: TableName, watch: Watch) -> str:
    trigger = watch.trigger or f"{_AFTER_CHECKS}{resources.name('capture')}"
    if trigger < _CHECKS or trigger.startswith(_CHECKS):
        raise ConfigError(
            41,
            f"the trigger {trigger} of {name} would fire before the table's foreign keys are checked",
            f"choose a name that sorts after {_CHECKS}, such as {_AFTER_CHECKS}{trigger}",
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


def _fires(connection: Connection, entry: _Entry) -> bool:
    wanted = {entry.trigger, f"{entry.trigger}_t"} if entry.actions else set()
    if entry.actions and _has_deferrable(connection, _relation(connection, entry.name)):
        wanted.add(f"{entry.trigger}_c")
    found = {name for name, mode in _triggers(connection, entry).items() if mode == "A"}
    return wanted in (found, found - {f"{entry.trigger}_c"})


def _triggers(connection: Connection, entry: _Entry) -> dict[str, str]:
    """The triggers of ours that the table has, and whether they fire always (A)."""
    rows = connection.execute(
        "SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = %s AND tgname = ANY (%s)",
        [_relation(connection, entry.name), [entry.trigger + suffix for suffix in ("", "_t", "_c")]],
    )
    return dict(rows.fetchall())


def _same_triggers(old: _Entry, new: _Entry) -> bool:
    return old.trigger == new.trigger and bool(old.actions) == bool(new.actions)


def _create_triggers(
    connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable], entry: _Entry
) -> None:
    execute = connection.execute
    table = _identifier(entry.name)
    relation = _relation(connection, entry.name)
    if entry.actions:
        function = sql.Identifier(resources.schema, resources.name(f"capture_{relation}"))
        debug = composed("capture/debug_line", **parts) if entry.debug else sql.SQL("")
        execute(composed("capture/trigger_function", **parts, function=function, debug=debug))
        events = sql.SQL(" OR ".join(_EVENTS[action] for action in entry.actions))
        row = {"table": table, "function": function}
        execute(composed("capture/row_trigger", **row, trigger=entry.trigger, events=events))
        execute(composed("capture/truncate_trigger", **row, trigger=f"{entry.trigger}_t"))
        for trigger in (entry.trigger, f"{entry.trigger}_t"):
            execute(composed("capture/enable_always", table=table, trigger=trigger))
    execute(sql.SQL("SELECT {}(%s)").format(parts["record_layout"]), [relation])
    trigger = f"{entry.trigger}_c"
    if entry.actions and _has_deferrable(connection, relation) and trigger not in _triggers(connection, entry):
        execute(composed("capture/mark_trigger", **parts, table=table, trigger=trigger))
        execute(composed("capture/enable_always", table=table, trigger=trigger))


def _has_deferrable(connection: Connection, relation: int) -> bool:
    row = connection.execute(
        "SELECT EXISTS (SELECT FROM pg_constraint WHERE (conrelid = %s OR confrelid = %s) AND condeferrable"
        " AND contype <> 't')",
        [relation, relation],
    ).fetchone()
    return bool(row and row[0])


def _drop_triggers(connection: Connection, entry: _Entry) -> None:
    if _exists(connection, entry.name):
        for trigger in _triggers(connection, entry):
            drop = sql.SQL("DROP TRIGGER {} ON {}")
            connection.execute(drop.format(sql.Identifier(trigger), _identifier(entry.name)))


def _exists(connection: Connection, name: TableName) -> bool:
    return bool(catalog.columns(connection, name))


def _identifier(name: TableName) -> sql.Identifier:
    return sql.Identifier(name.schema, name.table)
