"""What the source keeps: its state, and the tables that are watched."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from psycopg import sql

from sluice import sqlfiles
from sluice.errors import ConfigError, FencedError, SluiceError
from sluice.model.names import Resources, TableName
from sluice.model.watched import Watch
from sluice.vendors.gaussdb.capture.slot.server_slot import Recorded
from sluice.vendors.gaussdb.capture.slot.stream import Place
from sluice.vendors.gaussdb.catalog.stored import Stored, stored
from sluice.vendors.gaussdb.catalog.tables import Described
from sluice.vendors.gaussdb.session import composed
from sluice.vendors.postgresql.session import Connection
from sluice.vendors.protocol.sweep import SourceState

VERSION = 1
NAMES = ("state", "tables", "queue", "truncating")
_EVERY_ACTION = "IUD"
_FULL = "f"


@dataclass(frozen=True)
class State:
    """The one row of the source's state."""

    version: int
    store: str | None
    source: SourceState
    epoch: int
    recorded: Recorded | None


@dataclass(frozen=True)
class Registered:
    """A watched table, as it was recorded.

    Attributes:
        identity: the replica identity that it had before.
        stored: how it was stored at the last look; None if nobody has looked.
    """

    table: Described
    actions: str
    identity: str
    stored: Stored | None = None


def parts_of(resources: Resources) -> dict[str, sql.Composable]:
    """The values for placeholders of SQL files: the DbResources, qualified and quoted; some as texts, too."""
    names = {one: resources.name(one) for one in NAMES}
    made: dict[str, sql.Composable] = {one: sql.Identifier(resources.schema, name) for one, name in names.items()}
    made |= {f"{one}_name": sql.Literal(name) for one, name in names.items()}
    return {**made, "schema": sql.Literal(resources.schema), "trigger_name": sql.Literal(_trigger(resources))}


def emptied(resources: Resources) -> TableName:
    """The table that names the tables that were emptied."""
    return TableName(resources.schema, resources.name("queue"))


def is_there(connection: Connection, parts: Mapping[str, sql.Composable]) -> bool:
    """Whether the DbResources are there."""
    return connection.execute(composed("capture/registry/installed", **parts)).fetchone() == (True,)


def make(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Make the DbResources. Raises SluiceError SLC-291, their schema is somebody else's."""
    owned = connection.execute(composed("capture/registry/schema", **parts)).fetchone()
    if owned is None:
        connection.execute(composed("capture/registry/make_schema", name=resources.schema))
    elif resources.is_home and owned != (True,):
        raise SluiceError(
            291,
            f"the schema {resources.schema} of the DbResources is somebody else's",
            "nothing was done; name another one as `schema` of the source in the configuration, or let its owner drop "
            "it",
        )
    values = {"version": sql.Literal(VERSION), "incarnation": sql.Literal(str(uuid.uuid4()))}
    for name in sqlfiles.names("gaussdb", "capture/install"):
        connection.execute(composed(name, **parts, **values))


def state(connection: Connection, parts: Mapping[str, sql.Composable]) -> State:
    """The state. Raises ConfigError SLC-059, a newer Sluice made it."""
    (row,) = connection.execute(composed("capture/registry/state", **parts)).fetchall()
    version, incarnation, store, segment, sha256, epoch, slot, lsn, ahead = row
    if version > VERSION:
        raise ConfigError(
            59,
            f"the DbResources of the source are of version {version}, and this Sluice knows {VERSION}",
            "nothing was changed; run the version of Sluice that made them",
        )
    place = Place(lsn, frozenset(int(one) for one in ahead.split()))
    recorded = Recorded(slot, place) if slot else None
    return State(version, store, SourceState(incarnation, segment, sha256), epoch, recorded)


def record(
    connection: Connection, parts: Mapping[str, sql.Composable], place: Place, source: SourceState, epoch: int
) -> None:
    """Write what is published, in the caller's transaction. Raises FencedError if the lease is lost."""
    values = {
        "lsn": place.lsn,
        "ahead": " ".join(map(str, sorted(place.ahead))),
        "segment": source.segment,
        "sha256": source.sha256,
        "epoch": epoch,
    }
    if connection.execute(composed("capture/log/record", **parts), values).rowcount != 1:
        raise FencedError(50, f"another publisher took over while epoch {epoch} recorded what is published")


def registered(connection: Connection, parts: Mapping[str, sql.Composable]) -> dict[TableName, Registered]:
    """The watched tables."""
    return {
        TableName(schema, table): Registered(
            Described.from_text(relation, text).numbered(layout), actions, identity, _stored(text)
        )
        for schema, table, actions, relation, layout, text, identity in connection.execute(
            composed("capture/registry/registered", **parts)
        )
    }


def describe(connection: Connection, parts: Mapping[str, sql.Composable], one: Registered) -> None:
    """Record a watched table as it was looked at."""
    values = {"described": _text(one.table, one.stored), "relid": one.table.relation}
    connection.execute(composed("capture/registry/describe", **parts), values)


def restored(
    connection: Connection, parts: Mapping[str, sql.Composable], known: Collection[Registered]
) -> list[Registered]:
    """Those of these tables that are stored in another way by now, as they are stored now."""
    now = stored(connection, parts, [one.table.relation for one in known])
    return [
        replace(one, stored=now[one.table.relation])
        for one in known
        if one.table.relation in now and now[one.table.relation] != one.stored
    ]


def actions(watch: Watch) -> str:
    """The actions that are wanted of a table, as they are kept."""
    return "" if watch.actions == "none" else watch.actions or _EVERY_ACTION


def watch(
    connection: Connection,
    resources: Resources,
    parts: Mapping[str, sql.Composable],
    table: Described,
    settings: Watch,
    before: Registered | None,
    *,
    anew: bool = False,
) -> None:
    """Watch a table, so that the log has its whole old rows, and tells when it is emptied.

    Args:
        before: how it was watched until now.
        anew: whether what became of its rows until now does not matter.
    """
    relation = sql.Identifier(table.name.schema, table.name.table)
    connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(relation))
    until_now = stored(connection, parts, [table.relation]).get(table.relation)
    ((_, now),) = connection.execute(composed("capture/log/identities"), {"relations": [table.relation]}).fetchall()
    if now != _FULL:
        connection.execute(composed("capture/registry/identity", relation=relation, identity=sql.SQL("FULL")))
    made: dict[str, sql.Composable | str] = {
        "trigger": _trigger(resources),
        "relation": relation,
        "truncating": parts["truncating"],
    }
    connection.execute(composed("capture/registry/drop_trigger", **made))
    connection.execute(composed("capture/registry/trigger", **made))
    named = {"schema": table.name.schema, "table": table.name.table}
    connection.execute(composed("capture/registry/unregister", **parts), named)
    looked_at = stored(connection, parts, [table.relation]).get(table.relation)
    if before and not anew and until_now and until_now.is_rewritten(before.stored):
        # For the next sweep, which tells of it.
        looked_at = before.stored
    values = {
        **named,
        "actions": actions(settings),
        "relid": table.relation,
        "layout": table.layout.id,
        "described": _text(table, looked_at),
        "identity": before.identity if before else now,
    }
    connection.execute(composed("capture/registry/register", **parts), values)


def release(
    connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable], one: Registered, *, there: bool
) -> None:
    """Watch a table no more; it gets the replica identity that it had, if it is there."""
    name = one.table.name
    relation = sql.Identifier(name.schema, name.table)
    if there:
        connection.execute(composed("capture/registry/drop_trigger", trigger=_trigger(resources), relation=relation))
        words = {"d": "DEFAULT", "n": "NOTHING"}
        if one.identity in words:
            before = sql.SQL(words[one.identity])
            connection.execute(composed("capture/registry/identity", relation=relation, identity=before))
    connection.execute(composed("capture/registry/unregister", **parts), {"schema": name.schema, "table": name.table})


def silenced(
    connection: Connection, parts: Mapping[str, sql.Composable], known: Collection[Registered]
) -> list[TableName]:
    """Watched tables whose log has no whole old rows any more, or does not tell when they are emptied."""
    relations = {"relations": [one.table.relation for one in known]}
    there: dict[int, str] = dict(connection.execute(composed("capture/log/identities"), relations).fetchall())
    full = {relation for relation, identity in there.items() if identity == _FULL}
    told = {
        relation
        for (relation,) in connection.execute(
            composed("capture/registry/firing", trigger=parts["trigger_name"]), relations
        )
    }
    # Of one that is gone a sweep tells.
    return [one.table.name for one in known if one.table.relation in there.keys() - (full & told)]


def _text(table: Described, how: Stored | None) -> str:
    return json.dumps({**json.loads(table.to_text()), **({"stored": how.to_json()} if how else {})})


def _stored(text: str) -> Stored | None:
    plain = json.loads(text).get("stored")
    return Stored.from_json(plain) if plain else None


def _trigger(resources: Resources) -> str:
    return f"z_{resources.name('truncating')}"
