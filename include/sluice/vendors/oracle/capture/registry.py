"""The tables of ours in a source: its one row of state, the watched tables, and the part of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import oracledb

from sluice.errors import ConfigError, FencedError, StrangeSource
from sluice.model.names import TableName
from sluice.model.watched import Pattern, Watch, WatchSettings
from sluice.vendors.oracle.catalog.recorded import NO, YES, RecordedTable, recorded
from sluice.vendors.oracle.errors import code_of
from sluice.vendors.oracle.names import composed
from sluice.vendors.oracle.session import changed, execute, transaction
from sluice.vendors.protocol.sweep import SourceState

VERSION = 3
# An empty text is NULL there, so words stand for nothing.
NONE = "NONE"
_EVERY_NAME = " "
_EVERY_ACTION = "IUD"
_READY = "OK"
_NO_TABLE = "ORA-00942"

Parts = Mapping[str, str]


@dataclass(frozen=True)
class State:
    """The one row: what is published, the fence, and for whom the source is captured (None: for nobody yet)."""

    source: SourceState
    epoch: int
    version: int
    store: str | None


@dataclass(frozen=True)
class Registered:
    """A watched table.

    Attributes:
        actions: the letters of what is captured; empty if it is only copied.
        lost: a change of it is not known (R9).
        ready: its trigger is there, and who wrote before it has ended.
        made_for: the number of the columns that its trigger was made for.
    """

    recorded: RecordedTable
    actions: str
    trigger: str
    debug: int
    old_images: str
    lost: bool
    ready: bool
    made_for: int

    @property
    def is_up_to_date(self) -> bool:
        """Whether its trigger is there, made for the newest columns."""
        return self.ready and self.made_for == self.recorded.number

    @property
    def name(self) -> TableName:
        """The table."""
        return self.recorded.table.name

    @property
    def watch(self) -> Watch:
        """How it is captured."""
        return Watch(self.actions or "none", self.trigger, debug=self.debug, old_images=self.old_images)


def state(session: oracledb.Connection, parts: Parts) -> State | None:
    """The state; None if nothing is installed. Raises ConfigError SLC-059, a newer Sluice made it."""
    try:
        rows = execute(session, composed("capture/registry/state", **parts))
    except oracledb.DatabaseError as error:
        if code_of(error) == _NO_TABLE:
            return None
        raise
    if not rows:
        return None
    ((incarnation, segment, sha256, epoch, version, store),) = rows
    if version > VERSION:
        raise ConfigError(
            59,
            f"the DbResources of the source are of version {version}, and this Sluice knows {VERSION}",
            "nothing was changed; run the version of Sluice that made them",
        )
    source = SourceState(str(incarnation), int(segment), "" if sha256 == NONE else str(sha256))
    return State(source, int(epoch), int(version), None if store == NONE else str(store))


def carries_ddl(session: oracledb.Connection, parts: Parts) -> bool:
    """Whether the configuration has commands carried; so it is if nothing is installed."""
    try:
        rows = execute(session, composed("capture/registry/carries_ddl", **parts))
    except oracledb.DatabaseError as error:
        if code_of(error) != _NO_TABLE:
            raise
        rows = []
    return rows != [(NO,)]


def claim(session: oracledb.Connection, parts: Parts, store: str, *, by_force: bool) -> None:
    """Let the source be captured for one control store. Raises StrangeSource SLC-299, it is for another one."""
    found = state(session, parts)
    if found is None or found.store == store:
        return
    ours = False
    if found.store is None or by_force:
        with transaction(session):
            values = {"store": store, "holder": found.store or NONE}
            ours = changed(session, composed("capture/registry/claim", **parts), values) == 1
    if not ours:
        raise StrangeSource(
            299,
            "the source is captured for another control store",
            "nothing was changed. If that one is gone, trigger the DAG bootstrap with rebase, then initial_update for "
            "all slaves of this source; else choose another `prefix`",
        )


def expect_fence(session: oracledb.Connection, parts: Parts, epoch: int) -> None:
    """Hold the fence until the commit (R6). Raises FencedError SLC-050, another publisher took over."""
    rows = execute(session, composed("capture/registry/lock_state", **parts))
    if [int(found) for (found,) in rows] != [epoch]:
        raise FencedError(
            50,
            f"another publisher took over (epoch {rows and rows[0][0]}, ours {epoch})",
            "nothing is lost; this run ends and the other goes on",
        )


def take_over(session: oracledb.Connection, parts: Parts, epoch: int) -> None:
    """Raise the fence to `epoch`. Raises FencedError SLC-050, a later one is at work."""
    with transaction(session):
        rows = execute(session, composed("capture/registry/lock_state", **parts))
        if rows and int(rows[0][0]) > epoch:
            raise FencedError(50, f"a publisher with an epoch above {epoch} is at work")
        changed(session, composed("capture/registry/take_over", **parts), {"epoch": epoch})


def record(session: oracledb.Connection, parts: Parts, name: str, segment: int, sha256: str) -> None:
    """Write into the caller's transaction which segment was purged."""
    changed(session, composed(name, **parts), {"segment": segment, "sha256": sha256 or NONE})


def registered(session: oracledb.Connection, parts: Parts) -> dict[TableName, Registered]:
    """The watched tables, with their newest columns."""
    found = {}
    for row in execute(session, composed("capture/registry/registered", **parts)):
        schema, table, actions, trigger, debug, old_images, lost, status, relation, *rest = row
        number, columns, key, deferred, made_for = rest
        known = recorded(number, relation, schema, table, columns, key, deferred)
        letters = "" if actions == NONE else actions
        found[TableName(schema, table)] = Registered(
            known, letters, trigger, int(debug), old_images, lost == YES, status == _READY, int(made_for)
        )
    return found


def layouts(session: oracledb.Connection, parts: Parts) -> dict[int, list[RecordedTable]]:
    """All recorded columns by the numbers of tables, in the order of their keys."""
    found: dict[int, list[RecordedTable]] = {}
    for row in execute(session, composed("capture/registry/layouts", **parts)):
        one = recorded(*row)
        found.setdefault(one.table.relation, []).append(one)
    return found


def wanted(session: oracledb.Connection, parts: Parts) -> set[Pattern]:
    """The entries that `write_wanted` has kept."""
    rows = execute(session, composed("capture/registry/wanted", **parts))
    return {
        Pattern(schema, "" if table == _EVERY_NAME else table, wildcard=wildcard == YES, excluded=excluded == YES)
        for schema, table, wildcard, excluded in rows
    }


def actions(watch: Watch) -> str:
    """The letters of what is captured of a table; empty if it is only copied."""
    return "" if watch.actions == "none" else watch.actions or _EVERY_ACTION


def write_wanted(session: oracledb.Connection, parts: Parts, wanted: WatchSettings) -> None:
    """Keep the part of the configuration that tables to come are watched by."""
    with transaction(session):
        changed(session, composed("capture/registry/clear_wanted", **parts))
        for pattern, watch in wanted.entries.items():
            values = {
                "schema": pattern.schema,
                "name": pattern.table or _EVERY_NAME,
                "wildcard": YES if pattern.wildcard else NO,
                "excluded": YES if pattern.excluded else NO,
                "actions": actions(watch) or NONE,
                "trigger_": watch.trigger,
                "debug": watch.debug,
                "old_images": watch.old_images,
            }
            changed(session, composed("capture/registry/add_wanted", **parts), values)
        settings = {
            "detection": YES if wanted.detection else NO,
            "initial_content": YES if wanted.initial_content else NO,
        }
        changed(session, composed("capture/registry/clear_settings", **parts))
        changed(session, composed("capture/registry/add_settings", **parts), settings)
