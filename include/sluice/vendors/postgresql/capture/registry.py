"""The registry TABLES: what is wanted of each table, what was made of it, in which order they are loaded; and tables
that are to be watched once they are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from psycopg import sql

from sluice.errors import ConfigError, Unwatchable
from sluice.model.names import Resources, TableName
from sluice.model.watched import Watch
from sluice.vendors.postgresql.capture import unwatched
from sluice.vendors.postgresql.capture.ddl_polling import LOOK_WAIT_MS
from sluice.vendors.postgresql.capture.queue import triggers
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.definition import regclass
from sluice.vendors.postgresql.session import Connection, composed, limit_lock_waits

_OK = "OK"
_WANTED = sql.Literal("WANTED")


@dataclass(frozen=True)
class RegistryEntry:
    """One row of TABLES (Table 2.2 of the guide); actions in the order IUD, none for an initial copy only."""

    name: TableName
    actions: str
    trigger: str
    status: str
    debug: int
    old_images: str


def wanted(
    connection: Connection,
    resources: Resources,
    parts: Mapping[str, sql.Composable],
    watched: Mapping[TableName, Watch],
) -> dict[TableName, RegistryEntry]:
    """The wanted entries of TABLES for watched tables, which exist.

    Raises:
        ConfigError: SLC-041, SLC-477.
        Unwatchable: SLC-477.
    """
    numbers = oids(connection, parts, watched)
    _refuse_twice(connection, numbers)
    refuse_foreign(connection, watched)
    names = {name: triggers.name_for(resources, numbers[name], name, one.trigger) for name, one in watched.items()}
    triggers.refuse_taken(connection, resources, names)
    return {
        name: RegistryEntry(name, _actions(one), names[name], _OK, one.debug, one.old_images)
        for name, one in watched.items()
    }


def registered(connection: Connection, parts: Mapping[str, sql.Composable]) -> dict[TableName, RegistryEntry]:
    """The current entries of TABLES, also for tables that were dropped."""
    rows = connection.execute(composed("capture/registry/registry", **parts))
    return {
        TableName(schema, table): RegistryEntry(TableName(schema, table), *fields) for schema, table, *fields in rows
    }


def begin(connection: Connection, parts: Mapping[str, sql.Composable], entry: RegistryEntry, relation: int) -> None:
    """The entry is there, and its triggers are not yet: CREATING."""
    connection.execute(composed("capture/registry/register", **parts), {**_values(entry), "relation": relation})


def end(connection: Connection, parts: Mapping[str, sql.Composable], entry: RegistryEntry) -> None:
    """Its triggers are there: OK."""
    connection.execute(composed("capture/registry/registered", **parts), _values(entry))


def remove(connection: Connection, parts: Mapping[str, sql.Composable], entry: RegistryEntry) -> None:
    """The table is watched no more."""
    connection.execute(composed("capture/registry/unregister", **parts), _values(entry))


def listed(connection: Connection, parts: Mapping[str, sql.Composable]) -> set[TableName]:
    """The tables that are to be watched once they are made."""
    query = sql.SQL("SELECT schemaname, tablename FROM {} WHERE status = {}").format(parts["tables"], _WANTED)
    return {TableName(*row) for row in connection.execute(query)}


def list_wanted(
    connection: Connection,
    resources: Resources,
    parts: Mapping[str, sql.Composable],
    watched: Mapping[TableName, Watch],
) -> None:
    """Let the registry list the tables that the configuration names and that do not exist, and no others.

    Who makes one at this moment changes its entry, too, and is not waited for (R9).

    Raises:
        ConfigError: SLC-041 if the name of a trigger could not be given to one of them.
        TransientError: SLC-036 if somebody makes one at this moment.
    """
    limit_lock_waits(connection, LOOK_WAIT_MS)
    connection.execute(composed("capture/registry/unlist", **parts))
    for name, watch in watched.items():
        triggers.name_for(resources, 0, name, watch.trigger)
        connection.execute(
            sql.SQL("SELECT {}(%s::text, %s::text)").format(parts["list_wanted"]), [name.schema, name.table]
        )
    limit_lock_waits(connection, None)


def keep_order(connection: Connection, parts: Mapping[str, sql.Composable], order: Sequence[TableName]) -> None:
    """Let the entries' REPL_KEYs follow the order in which the tables are loaded, and leave them if they do."""
    keys = {
        TableName(schema, table): key
        for schema, table, key in connection.execute(
            sql.SQL("SELECT schemaname, tablename, repl_key FROM {}").format(parts["tables"])
        )
    }
    known = [keys[name] for name in order]
    if known == sorted(known):
        return
    for name in order:
        connection.execute(composed("capture/registry/renumber", **parts), {"schema": name.schema, "table": name.table})


def _actions(watch: Watch) -> str:
    return "" if watch.actions == "none" else watch.actions


def _values(entry: RegistryEntry) -> dict[str, str | int]:
    return {
        "schema": entry.name.schema,
        "table": entry.name.table,
        "actions": entry.actions,
        "trigger": entry.trigger,
        "debug": entry.debug,
        "old_images": entry.old_images,
    }


def oids(
    connection: Connection, parts: Mapping[str, sql.Composable], names: Iterable[TableName]
) -> dict[TableName, int]:
    """The numbers of tables that were seen before. Raises TransientError SLC-095 if one was dropped since."""
    wanted = list(names)
    if gone := unwatched.missing(connection, parts, wanted):
        raise unwatched.changing(", ".join(map(str, gone)))
    found = relations.existing(connection, wanted)
    return {name: found[name][0] for name in wanted}


def refuse_foreign(connection: Connection, names: Iterable[TableName]) -> None:
    """Rows of a foreign table change elsewhere, and no dump reads them. Raises Unwatchable SLC-477."""
    tables = sql.Literal([regclass(name) for name in names])
    query = composed("catalog/foreign", tables=sql.SQL("{}::text[]::regclass[]").format(tables))
    if row := connection.execute(query).fetchone():
        raise Unwatchable(
            477,
            f"{row[1]} is a foreign table and a partition of {row[0]}: what changes in it elsewhere fires no trigger",
            f"detach it, or take {row[0]} out of `tables`; nothing was changed",
        )


def _refuse_twice(connection: Connection, oids: Mapping[TableName, int]) -> None:
    """Two triggers would record each row of a partition that is watched with its table, under one table's name."""
    watched = {number: name for name, number in oids.items()}
    rows = connection.execute(composed("catalog/within"), {"relations": list(watched)}).fetchall()
    if rows:
        part, whole = (watched[number] for number in rows[0])
        raise ConfigError(
            477,
            f"{part} is a partition of {whole}, which is watched already: its rows would arrive twice",
            f"take {part} out of `tables`, or watch it by a source of its own; nothing was changed",
        )
