"""The one row that a source keeps of its publisher: whose it is, which server it was, and how far its log is published.

The row is in the master, so that a master that is set back to an earlier moment is noticed (R2).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pymysql

from sluice.errors import FencedError, StrangeSource
from sluice.model.layout import Layout
from sluice.model.names import Resources, TableName
from sluice.vendors.mariadb.capture.binlog.reader import LogPlace
from sluice.vendors.mariadb.capture.binlog.stream import Stream
from sluice.vendors.mariadb.errors import number_of
from sluice.vendors.mariadb.session import (
    Connection,
    changed,
    composed,
    execute,
    expect_pinned,
    qualified,
    quoted,
    transaction,
)
from sluice.vendors.protocol.sweep import SourceState

_NO_TABLE, _NO_DATABASE = 1146, 1049


@dataclass(frozen=True)
class Published:
    """How far the log is published.

    Attributes:
        born: of the file of the place, as `Stream.born` has it; empty if it was not read yet.
        altered: see `Layouts`.
        since: see `Stream`.
        prepared: see `Stream`.
    """

    place: LogPlace
    born: str = ""
    layouts: Mapping[TableName, Layout] = field(default_factory=dict)
    altered: tuple[TableName, ...] = ()
    since: Mapping[TableName, LogPlace] = field(default_factory=dict)
    prepared: Mapping[str, Collection[TableName]] = field(default_factory=dict)

    def beside(self, begun: Published, here: Published) -> Published:
        """This one, with the layouts that an installation wrote since a reading had begun."""
        came = {name: one for name, one in here.layouts.items() if begun.layouts.get(name) != one}
        since = {name: place for name, place in here.since.items() if name in came and place > self.place}
        altered = tuple(name for name in self.altered if name not in since)
        return replace(self, layouts={**self.layouts, **came}, altered=altered, since={**self.since, **since})

    @property
    def values(self) -> dict[str, object]:
        """The values of a statement that records it."""
        known = {
            "layouts": [one.to_json() for one in self.layouts.values()],
            "altered": [[one.schema, one.table] for one in self.altered],
            "members": [
                [name.schema, name.table, {column.name: column.members for column in one.columns if column.members}]
                for name, one in self.layouts.items()
                if any(column.members for column in one.columns)
            ],
            "counting": [
                [name.schema, name.table, [column.name for column in layout.columns if column.counts]]
                for name, layout in self.layouts.items()
                if any(column.counts for column in layout.columns)
            ],
            "prepared": {name: [[one.schema, one.table] for one in some] for name, some in self.prepared.items()},
            "since": [[one.schema, one.table, str(place)] for one, place in self.since.items()],
        }
        return {"place": str(self.place), "born": self.born, "layouts": json.dumps(known)}


@dataclass(frozen=True)
class BinlogState:
    """The row.

    Attributes:
        wanted: what is watched, as `sluice.vendors.mariadb.capture.binlog.watched` wrote it.
    """

    store: str
    epoch: int
    incarnation: str
    server: str
    segment: int
    sha256: str
    published: Published
    wanted: str

    def seen_from(self, server: str) -> SourceState:
        """The state as a publisher compares it: on another server it is another source."""
        incarnation = self.incarnation if server == self.server else f"{self.incarnation} on another server"
        return SourceState(incarnation, self.segment, self.sha256)


def parts_of(resources: Resources) -> dict[str, str]:
    """Our table, for the statements that name it."""
    return {"state": qualified(TableName(resources.schema, resources.name("state")))}


def records_of(resources: Resources) -> TableName:
    """Our table with the records of statements for every node."""
    return TableName(resources.schema, resources.name("statement"))


def found(session: Connection, parts: Mapping[str, str]) -> BinlogState | None:
    """The row; None if nothing is installed."""
    try:
        rows = execute(session, composed("capture/state", **parts))
    except pymysql.Error as error:
        if number_of(error) in (_NO_TABLE, _NO_DATABASE):
            return None
        raise
    if not rows:
        return None
    ((store, epoch, incarnation, server, segment, sha256, place, born, wanted, layouts),) = rows
    known: dict[str, Any] = json.loads(layouts)
    members = {TableName(*name): of for *name, of in known.get("members", ())}
    counting = {TableName(*name): columns for *name, columns in known.get("counting", ())}
    current = [_with_more(Layout.from_json(one), members, counting) for one in known.get("layouts", ())]
    altered = tuple(TableName(*one) for one in known.get("altered", ()))
    since = {TableName(*name): LogPlace.parsed(there) for *name, there in known.get("since", ())}
    prepared = {name: [TableName(*one) for one in some] for name, some in known.get("prepared", {}).items()}
    published = Published(LogPlace.parsed(place), born, {one.name: one for one in current}, altered, since, prepared)
    return BinlogState(store, int(epoch), incarnation, server, int(segment), sha256, published, wanted)


def _with_more(
    layout: Layout,
    members: Mapping[TableName, Mapping[str, list[str]]],
    counting: Mapping[TableName, Collection[str]],
) -> Layout:
    """A layout with what its own text does not have."""
    listed, counts = members.get(layout.name, {}), counting.get(layout.name, ())
    return replace(
        layout,
        columns=tuple(
            replace(column, members=tuple(listed.get(column.name, ())), counts=column.name in counts)
            for column in layout.columns
        ),
    )


def known(session: Connection, parts: Mapping[str, str]) -> BinlogState:
    """The row, which is there. Raises pymysql.Error if somebody has dropped it."""
    row = found(session, parts)
    if row is None:
        raise pymysql.err.ProgrammingError(_NO_TABLE, f"{parts['state']} is gone: trigger the DAG bootstrap")
    return row


def make(session: Connection, resources: Resources, values: Mapping[str, object]) -> None:
    """Make the table and its row."""
    parts = parts_of(resources)
    execute(session, f"CREATE DATABASE IF NOT EXISTS {quoted(resources.schema)}")
    execute(session, composed("capture/make_state", **parts, collation=session.server.collation))
    changed(session, composed("capture/begin_state", **parts), values)


def drop(session: Connection, resources: Resources) -> str:
    """Drop our table; which one it was. Its database stays: routines and events of others are not shown to us there."""
    state = parts_of(resources)["state"]
    execute(session, composed("capture/drop_state", state=state))
    execute(session, composed("statements/drop_records", records=qualified(records_of(resources))))
    if not resources.is_home:
        return f"TABLE {state}"
    home = quoted(resources.schema)
    return f"TABLE {state}; its database stays: type DROP DATABASE {home} if nobody keeps anything in it"


def record(
    session: Connection, parts: Mapping[str, str], epoch: int, name: str, values: Callable[[], Mapping[str, object]]
) -> None:
    """Change the row under the fence, to values of when it is locked (R6).

    Raises:
        FencedError: SLC-050, another publisher took over.
    """
    with transaction(session):
        rows = execute(session, composed("capture/lock_state", **parts))
        if rows != [(str(epoch),)]:
            raise FencedError(50, f"another publisher took over (epoch {rows and rows[0][0]}, ours {epoch})")
        expect_pinned(session)
        changed(session, composed(name, **parts), values())


def record_end(
    session: Connection,
    parts: Mapping[str, str],
    epoch: int,
    name: str,
    ends: tuple[Published, Published],
    more: Mapping[str, object],
) -> None:
    """Record under the fence how far a reading came, by where it began and where it ended (R6).

    Raises:
        FencedError: SLC-050, another publisher took over.
    """
    begun, end = ends
    # Whoever installs has no lease, and so may have written in between; from here on the row is locked.
    record(session, parts, epoch, name, lambda: {**end.beside(begun, known(session, parts).published).values, **more})


def take_over(session: Connection, parts: Mapping[str, str], epoch: int) -> None:
    """Raise the fence to `epoch`. Raises FencedError SLC-050, a later one is at work."""
    with transaction(session):
        rows = execute(session, composed("capture/lock_state", **parts))
        if rows and int(rows[0][0]) > epoch:
            raise FencedError(50, f"a publisher with an epoch above {epoch} is at work")
        changed(session, composed("capture/take_over", **parts), {"epoch": epoch})


def claimed(row: BinlogState, store: str, *, by_force: bool) -> bool:
    """Whether the source is to be claimed for a store. Raises StrangeSource SLC-299, it is for another one."""
    if row.store in ("", store):
        return row.store != store
    if not by_force:
        raise StrangeSource(
            299,
            "the source is captured for another control store",
            "nothing was changed. If that one is gone, trigger the DAG bootstrap with rebase, then initial_update for "
            "all slaves of this source; else choose another `prefix`",
        )
    return True


def as_published(stream: Stream) -> Published:
    """How far a stream came."""
    since = {name: place for name, place in stream.since.items() if place > stream.end}
    return Published(
        stream.end, stream.born, dict(stream.layouts.current), tuple(stream.layouts.altered), since, stream.prepared
    )
