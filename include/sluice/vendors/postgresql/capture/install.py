"""Installing the DbResources and the capture of each watched table; the registry TABLES is its memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from psycopg import sql

from sluice import sqlfiles
from sluice.apply.table_order import cycles, loading_order
from sluice.model.names import RESOURCES, Resources, TableName, home_of
from sluice.model.watched import Watch, WatchSettings
from sluice.vendors.postgresql import install_lock, migrations, ownership, planned_code
from sluice.vendors.postgresql.capture import change_over, event_triggers, items_view, registry, unwatched
from sluice.vendors.postgresql.capture.queue import storage, triggers
from sluice.vendors.postgresql.capture.registry import RegistryEntry
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.definition import regclass
from sluice.vendors.postgresql.session import PRINTED, PURGE, Connection, composed
from sluice.vendors.protocol.capture import Installed

# Where a statement needs a name as a text, to look it up.
_NAMED = ("seq", "queue", "notes", "tables", "current_tables", "altered", "mark_function", "truncating", "layouts")


def resources(schema: str | None, prefix: str) -> Resources:
    """The DbResources of a schema and a prefix; unquoted names are stored in lower case.

    Args:
        schema: None: one that is named after the prefix.
    """
    folded = prefix.lower()
    return Resources(schema or home_of(folded), folded, is_home=schema is None)


def parts_of(resources: Resources) -> dict[str, sql.Composable]:
    """The values for placeholders of SQL files: all DbResources, qualified and quoted."""
    parts: dict[str, sql.Composable] = {
        name: sql.Identifier(resources.schema, resources.name(name)) for name in RESOURCES
    }
    names = {name: regclass(TableName(resources.schema, resources.name(name))) for name in _NAMED}
    names |= {"schema": resources.schema, "capture": resources.name("capture_"), "trigger": triggers.made(resources)}
    for function in ("altered", "mark_function", "truncating"):
        names[function] += "()"
    literals = {f"{name}_name": sql.Literal(text) for name, text in names.items()}
    literals |= {f"{name}_name": sql.Literal(resources.everywhere(name)) for name in ("rows", "commands")}
    catalogs = {name: composed(f"catalog/{name}") for name in ("eligible", "definition")}
    catalogs["server"] = composed("capture/queue/server")
    catalogs["types"] = composed("catalog/types", columns=sql.SQL("ARRAY(SELECT said.type FROM said WHERE said.other)"))
    catalogs["indexes"] = composed("catalog/indexes", relation=sql.SQL("relation"))
    catalogs["planned_code"] = planned_code.installed(parts["tree"], parts["settings"], literals["tables_name"])
    settings = (
        sql.SQL("SET {} = {}").format(sql.Identifier(name), sql.Literal(value)) for name, value in PRINTED.items()
    )
    mark = sql.Identifier(resources.schema, "mark")
    return {**parts, **literals, **catalogs, "mark": mark, "printed": sql.SQL("\n").join(settings)}


def install(
    connection: Connection,
    resources: Resources,
    watched: Mapping[TableName, Watch],
    wanted: WatchSettings,
    *,
    recreate: bool,
    unreadable: Collection[TableName] = (),
    new_slot: change_over.NewSlot | None = None,
) -> Installed:
    """Everything the capture needs, inside the caller's transaction, which is committed near the end.

    Args:
        unreadable: tables whose columns changed unseen: these are recorded now, and the images of before are forgotten,
            since none of them tells under which columns it was written.
        new_slot: what rows are read from, where the source changes over to the server's log.

    Raises:
        ConfigError: SLC-041 if a trigger's name would break R1, SLC-360 if making one would run code of others, SLC-059
            if a newer Sluice made what is there.
        TransientError: SLC-036 if a table stays locked, SLC-095 if one is dropped meanwhile, if one is made
            while the source changes over; nothing was changed then.
    """
    parts = {**parts_of(resources), **items_view.parts_of(wanted.appearance)}
    execute = connection.execute
    found = _found(connection, resources, parts)
    changes = found == migrations.newest() and _captured_otherwise(connection, parts, wanted)
    _make(connection, resources, parts, wanted)
    meant = unwatched.present(connection, parts, watched)
    present = {name: watched[configured] for name, configured in meant.items()}
    again = present if recreate else {*unreadable, *triggers.silenced(connection, parts)}
    with event_triggers.unheard(connection, parts):
        later = found is not None
        installed = _reconcile(connection, resources, parts, present, again, wanted, later=later, changes=changes)
        absent = {name: watch for name, watch in watched.items() if name not in present}
        registry.list_wanted(connection, resources, parts, absent)
    forgotten = list(registry.oids(connection, parts, unwatched.present(connection, parts, unreadable)).values())
    execute(composed("capture/registry/current_tables", **parts), {"anew": forgotten})
    execute(PURGE)
    for relation in forgotten:
        execute(composed("capture/registry/forget_images", **parts), {"relation": relation})
    left = tuple(unwatched.among(connection, parts, wanted.named_tables))
    if changes:
        change_over.record(connection, parts, by_log=wanted.by_log, new_slot=new_slot)
    connection.commit()
    storage.key(connection, resources, parts, wanted=wanted.drained_into)
    storage.guard(connection, resources, parts)
    storage.set_replica_identity(connection, resources, parts)
    return replace(installed, unwatched=left, changed_over=changes)


def upgrade(connection: Connection, resources: Resources, wanted: WatchSettings) -> None:
    """DbResources of an older version, brought up to this one; committed before anybody looks what changed unseen, and
    before a trigger is made. The source is captured as it was: `install` changes it over, under locks.

    Raises:
        ConfigError: SLC-059 if a newer Sluice made what is there.
    """
    parts = {**parts_of(resources), **items_view.parts_of(wanted.appearance)}
    found = _found(connection, resources, parts)
    if found not in (None, migrations.newest()):
        _make(connection, resources, parts, wanted, keeps_way=True)
    connection.commit()


def begin_behind(connection: Connection, resources: Resources, last_key: int) -> None:
    """Make the sequence of an installation that is still to be made, behind a key. Layouts that the control store has
    are known by their keys.
    """
    ownership.make_schema(connection, resources)
    parts = parts_of(resources)
    connection.execute(composed("capture/install/010_seq", **parts))
    connection.execute(composed("capture/registry/begin_behind", **parts), {"last_key": last_key})


def _found(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> int | None:
    """The version that is there. One bootstrap of a prefix at a time."""
    ownership.refuse_strange(connection, resources)
    install_lock.bootstrap(connection, resources)
    return migrations.version(connection, resources, parts)


def _captured_otherwise(connection: Connection, parts: Mapping[str, sql.Composable], wanted: WatchSettings) -> bool:
    """Whether the source is captured in another way than it is to be."""
    state = change_over.recorded_state(connection, parts)
    return state is not None and state.by_log is not wanted.by_log


def _make(
    connection: Connection,
    resources: Resources,
    parts: Mapping[str, sql.Composable],
    wanted: WatchSettings,
    *,
    keeps_way: bool = False,
) -> None:
    """All but what is of single tables.

    Args:
        keeps_way: how the source is captured stays as it is, whatever is wanted.
    """
    ownership.make_schema(connection, resources)
    names = [resources.name(name) for name in RESOURCES]
    known = ownership.existing(connection, resources.schema, names)
    migrations.upgrade(connection, resources, parts)
    with connection.pipeline():
        for name in sqlfiles.names("postgresql", "capture/install"):
            connection.execute(composed(name, **parts))
    migrations.finish(connection, parts)
    ownership.keep_to_ourselves(connection, resources.schema, names, known)
    # Where others may make things, one of a name of ours could have come in between.
    ownership.refuse_strange(connection, resources)
    event_triggers.watch_ddl(connection, resources, parts)
    if keeps_way:
        recorded = change_over.recorded_state(connection, parts)
        wanted = replace(wanted, by_log=recorded is not None and recorded.by_log)
    event_triggers.want(connection, parts, wanted)
    if wanted.by_log:
        connection.execute(composed("capture/log/publications", **parts))


def _reconcile(
    connection: Connection,
    resources: Resources,
    parts: Mapping[str, sql.Composable],
    watched: Mapping[TableName, Watch],
    again: Collection[TableName],
    settings: WatchSettings,
    *,
    later: bool,
    changes: bool,
) -> Installed:
    known, listed = registry.registered(connection, parts), registry.listed(connection, parts)
    parents = relations.parents(connection)
    stages = loading_order({name: watch.sequence for name, watch in watched.items()}, parents)
    order = [name for stage in stages for name in stage]
    wanted = registry.wanted(connection, resources, parts, {name: watched[name] for name in order})
    existing = triggers.existing(connection, resources, {*wanted, *known})
    by_log = settings.by_log
    waiting = {} if by_log else {name: one.trigger for name, one in wanted.items() if one.actions}
    unmarked = triggers.unmarked(connection, parts, waiting)

    def stands(entry: RegistryEntry) -> bool:
        fires = (
            triggers.stand(existing[entry.name], entry.trigger, entry.actions, by_log=by_log)
            and entry.name not in unmarked
        )
        changed = changes and entry.actions
        return fires and known.get(entry.name) == entry and entry.name not in again and not changed

    added = [entry for entry in wanted.values() if not stands(entry)]
    # What the event trigger began to watch since the caller looked stays watched.
    removed = [
        entry
        for name, entry in known.items()
        if name not in wanted and not event_triggers.wants(connection, parts, name)
    ]
    # While a source changes over nothing may: it would be captured in the other way.
    if changes and known.keys() - wanted.keys() - {entry.name for entry in removed}:
        raise change_over.changed_meanwhile()
    surplus = {
        entry.name: names
        for entry in added
        if (names := triggers.surplus(existing[entry.name], entry.trigger, entry.actions, by_log=by_log))
    }
    # By the log a table may have none, and be read all the same.
    surplus |= {entry.name: list(dict.fromkeys([entry.trigger, *existing[entry.name]])) for entry in removed}
    planned_code.expect_capturable(connection, [entry.name for entry in added], settings.trusted_code)
    # A table's replica identity changes under the stronger one.
    mode = "ACCESS EXCLUSIVE" if by_log or changes else "SHARE ROW EXCLUSIVE"
    # While a source changes over no transaction may be on both sides of that: not one that writes to the queue, either.
    ours = [TableName(resources.schema, resources.name(name)) for name in ("queue", "layouts")] if changes else []
    among = {entry.name for entry in added} | (surplus.keys() if changes else set())
    triggers.lock(connection, sorted(among), mode, unwritten=ours)
    triggers.lock(connection, list(surplus), "ACCESS EXCLUSIVE")
    if changes and registry.registered(connection, parts) != known:
        raise change_over.changed_meanwhile()
    # A table that is gone has none.
    there = relations.existing(connection, list(surplus))
    surplus = {name: names for name, names in surplus.items() if existing[name] or name in there}
    oids = registry.oids(connection, parts, {*surplus, *(entry.name for entry in added)})
    for name, names in surplus.items():
        triggers.drop(connection, parts, oids[name], names)
    for entry in added:
        relation = oids[entry.name]
        if entry.name in listed:
            # It was made meanwhile: its rows follow, as when a look of the publisher finds it.
            connection.execute(sql.SQL("SELECT {}(%s::oid, NULL::text)").format(parts["adopt"]), [relation])
            continue
        registry.begin(connection, parts, entry, relation)
        capture = sql.SQL("SELECT {}(%s::oid, %s::text, %s::text, %s::integer)").format(parts["capture_table"])
        connection.execute(capture, [relation, entry.actions, entry.trigger, entry.debug])
        if changes and not by_log:
            connection.execute(sql.SQL("SELECT {}(%s::oid)").format(parts["release_log"]), [relation])
        registry.end(connection, parts, entry)
        # Nobody follows a source that is installed for the first time.
        if later and entry.name not in known:
            connection.execute(composed("capture/registry/create", **parts), {"relation": relation})
    for entry in removed:
        registry.remove(connection, parts, entry)
    registry.keep_order(connection, parts, order)
    return Installed(
        added=tuple(entry.name for entry in added),
        removed=tuple(entry.name for entry in removed),
        stages=stages,
        cycles=cycles(order, parents),
    )
