"""Installing what a GaussDB needs to be captured, and removing it: the DbResources, the watched tables, the slot."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from psycopg import sql

from sluice.apply.table_order import loading_order
from sluice.errors import ConfigError
from sluice.model.names import Resources, TableName
from sluice.model.unwatched import Unwatched, UnwatchedReason
from sluice.model.watched import Watch, WatchSettings
from sluice.vendors.gaussdb.capture import float_columns, registry
from sluice.vendors.gaussdb.capture.registry import Registered
from sluice.vendors.gaussdb.capture.settings import CaptureSettings
from sluice.vendors.gaussdb.capture.slot import server_slot
from sluice.vendors.gaussdb.catalog.tables import Described, described
from sluice.vendors.gaussdb.session import composed
from sluice.vendors.postgresql.session import Connection
from sluice.vendors.protocol.capture import Installed

Parts = Mapping[str, sql.Composable]


def install(
    connection: Connection,
    resources: Resources,
    parts: Parts,
    settings: CaptureSettings,
    watched: Mapping[TableName, Watch],
    wanted: WatchSettings,
) -> Installed:
    """Install or reconcile everything in one transaction; then make the slot, if none is recorded.

    A table that was altered stays as it is recorded: rows of before are read by that. `renew` takes it as it is.

    Raises:
        ConfigError: SLC-477, the log does not tell of a table; SLC-438, a drain with `block_loop` writes here; SLC-477,
            the log may round a column.
    """
    if wanted.drained_into:
        raise ConfigError(
            438,
            "a drain with `block_loop` writes into the database of this source, and its log does not tell whose "
            "changes are whose",
            "nothing was changed; take the replication or the source out of the configuration",
        )
    there = described(connection, list(watched))
    for name, one in there.items():
        if not one.logged:
            raise ConfigError(
                477,
                f"{name} is unlogged, of which the server's log does not tell",
                "nothing was changed; take the table out of `tables`",
            )
    float_columns.expect_allowed(connection, settings, watched)
    number = time.time_ns() // 1_000_000
    with connection.transaction():
        registry.make(connection, resources, parts)
        known = registry.registered(connection, parts)
        silent = set(registry.silenced(connection, parts, list(known.values())))
        added: list[TableName] = []
        removed = [name for name in known if name not in watched]
        for name, one in there.items():
            before = known.get(name)
            if before and name not in silent and before.actions == registry.actions(watched[name]):
                continue
            table = before.table if before else one.numbered(number + len(added))
            registry.watch(connection, resources, parts, table, watched[name], before)
            added += [] if before else [name]
        for name in removed:
            registry.release(connection, resources, parts, known[name], there=_is_there(connection, known[name]))
        has_slot = registry.state(connection, parts).recorded is not None
    if not has_slot:
        _begin(connection, resources, parts, settings)
    left = unwatched(wanted.named_tables, {**known, **dict.fromkeys(there)}, {})
    stages = loading_order({name: watched[name].sequence for name in there}, {})
    return Installed(added=tuple(added), removed=tuple(removed), stages=stages, unwatched=tuple(left))


def renew(connection: Connection, resources: Resources, parts: Parts, settings: CaptureSettings) -> None:
    """Take the watched tables as they are now, and begin with a slot that is made now."""
    with connection.transaction():
        known = registry.registered(connection, parts)
        now = described(connection, list(known))
        number = time.time_ns() // 1_000_000
        for place, (name, before) in enumerate(known.items()):
            if name not in now:
                registry.release(connection, resources, parts, before, there=False)
            elif not now[name].is_as(before.table):
                table = now[name].numbered(number + place)
                watch = Watch(before.actions or "none")
                registry.watch(connection, resources, parts, table, watch, before, anew=True)
        for one in registry.restored(connection, parts, list(registry.registered(connection, parts).values())):
            registry.describe(connection, parts, one)
        connection.execute(composed("capture/registry/forget_emptied", **parts))
    _begin(connection, resources, parts, settings)


def remove(
    connection: Connection, resources: Resources, parts: Parts, settings: CaptureSettings, before: Callable[[], None]
) -> list[str]:
    """Drop every DbResource of this prefix, in one transaction, and then the slot; what was dropped."""
    if not registry.is_there(connection, parts):
        before()
        return []
    recorded = registry.state(connection, parts).recorded
    with connection.transaction():
        known = registry.registered(connection, parts)
        before()
        for one in known.values():
            registry.release(connection, resources, parts, one, there=_is_there(connection, one))
        removed = []
        for name in ("tables", "queue", "state"):
            connection.execute(composed("capture/uninstall/table", table=parts[name]))
            removed.append(f"TABLE {resources.schema}.{resources.name(name)}")
        connection.execute(composed("capture/uninstall/function", **parts))
        removed.append(f"FUNCTION {resources.schema}.{resources.name('truncating')}()")
        if resources.is_home and connection.execute(composed("capture/registry/is_empty", **parts)).fetchone() == (
            True,
        ):
            connection.execute(composed("capture/uninstall/schema", name=resources.schema))
    if recorded and server_slot.drop(connection, recorded.slot, settings):
        removed.append(f"SLOT {recorded.slot}")
    return removed


def unwatched(
    names: Sequence[TableName], known: Mapping[TableName, Registered | None], there: Mapping[TableName, object]
) -> list[Unwatched]:
    """Those of these tables that are not watched, and why."""
    return [
        Unwatched(name, UnwatchedReason.CONFIGURED_SINCE if name in there else UnwatchedReason.MISSING)
        for name in names
        if name not in known
    ]


def _begin(connection: Connection, resources: Resources, parts: Parts, settings: CaptureSettings) -> None:
    slot = server_slot.name(connection, resources, settings)
    server_slot.drop(connection, slot, settings)
    lsn = server_slot.make(connection, slot, settings)
    connection.execute(composed("capture/log/begin", **parts), {"slot": slot, "lsn": lsn})


def _is_there(connection: Connection, one: Registered) -> bool:
    found: Mapping[TableName, Described] = described(connection, [one.table.name])
    return one.table.name in found and found[one.table.name].relation == one.table.relation
