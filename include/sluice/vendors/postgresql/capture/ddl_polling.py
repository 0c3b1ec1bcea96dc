"""Finds DDL that no event trigger recorded, by comparing the catalog with the last records; and new entries of the
registry.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from sluice.errors import AGAIN, AlteredMeanwhile, TransientError
from sluice.log import event
from sluice.model.names import Resources, TableName
from sluice.vendors.postgresql.capture import event_triggers
from sluice.vendors.postgresql.capture.queue import triggers
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.change_stamp import CatalogStamp
from sluice.vendors.postgresql.session import Connection, composed, limit_lock_waits

_AGAIN_S = 60.0
_MODE = "SHARE ROW EXCLUSIVE"
# To print a default, the server locks the table that has it; a partition that left is locked to lose its triggers.
# Shorter than the second after which servers look for deadlocks: no statement of a user is ended as the victim (R9).
LOOK_WAIT_MS = 200
# No change of an unwatched table is queued, so its lock is held for a short time only.
_TRIES = 3


@dataclass(frozen=True)
class Locked:
    """A watched table that other sessions lock against readers; who, and since when, if visible to our role."""

    relation: int
    name: TableName
    pid: int
    user: str | None
    since: str | None

    def __str__(self) -> str:
        since = f" since {self.since}" if self.since else ""
        return f"{self.name} is locked by process {self.pid} of {self.user or 'nobody known'}{since}"


class Waited:
    """Tables that are looked at later: each is logged when that begins, and once a minute."""

    def __init__(self) -> None:
        self._since: dict[TableName, float] = {}
        self._logged: dict[TableName, float] = {}

    def report(self, passed: Sequence[Locked]) -> None:
        """Log them.

        Args:
            passed: all of them, as they are now.
        """
        now = time.monotonic()
        self._since = {one.name: self._since.get(one.name, now) for one in passed}
        self._logged = {name: at for name, at in self._logged.items() if name in self._since}
        for one in passed:
            if now - self._logged.get(one.name, float("-inf")) >= _AGAIN_S:
                event(
                    "a table is looked at later", table=one.name, why=one, waited_s=round(now - self._since[one.name])
                )
                self._logged[one.name] = now


def poll(
    connection: Connection,
    parts: Mapping[str, sql.Composable],
    unchanged: CatalogStamp,
    report: Callable[[Sequence[Locked]], None] = lambda _: None,
    tries: int = _TRIES,
) -> None:
    """Send what changed of watched tables since the last look as commands.

    A table whose images cannot be told apart is left as it is; the sweep refuses to read it (SLC-043). One that others
    keep locked is looked at later: nobody has all other tables wait by a lock of one.

    Args:
        unchanged: since the last look of the same caller.
        report: called with the tables that are looked at later.
        tries: so many of these are looked at all the same, between two transactions of those that lock them, if what
            is queued cannot be read else.

    Raises:
        TransientError: SLC-036, one that is locked has changed, and its images cannot be told apart until it
            is looked at.
    """
    if unchanged.look(connection, parts):
        return
    unseen, passed = _unseen(connection, parts)
    left: list[Exception] = []
    for relation, *names in _in_order(unseen):
        name = TableName(*names[:2]) if names[0] else None
        try:
            called = _call_locked(
                connection, parts, sql.SQL("{}(%s::oid)").format(parts["poll"]), relation, name, _MODE
            )
        except (TransientError, psycopg.errors.LockNotAvailable) as error:
            left.append(error)
            continue
        if not called:
            poll(connection, parts, unchanged, report, tries)
            return
    report(passed)
    if not (unseen or passed):
        unchanged.is_fine()
    elif (left or passed) and (
        misread := connection.execute(composed("capture/ddl/layout_mismatch", **parts)).fetchall()
    ):
        changed = {TableName(schema, table) for schema, table, _ in misread}
        for one in passed:
            if one.name in changed:
                if tries and _is_looked_at_between(connection, parts, one):
                    poll(connection, parts, unchanged, report, tries - 1)
                    return
                raise AlteredMeanwhile(
                    36,
                    f"{one}, and its columns or partitions changed before that: what is queued cannot be read until "
                    "that is looked at",
                    f"nothing is lost, {AGAIN} when the lock ends. To go on at once, look in pg_stat_activity "
                    "what that session is, and end it by pg_terminate_backend",
                )
        if left:
            raise left[0]


def locked(connection: Connection, parts: Mapping[str, sql.Composable]) -> list[Locked]:
    """Watched tables that others lock even against readers."""
    rows = connection.execute(composed("capture/ddl/locked", **parts))
    return [Locked(relation, TableName(schema, table), *by) for relation, schema, table, *by in rows]


def _unseen(
    connection: Connection, parts: Mapping[str, sql.Composable]
) -> tuple[list[tuple[Any, ...]], Sequence[Locked]]:
    """Tables that differ from their records, and tables that are locked."""
    for _ in range(_TRIES):
        passed = locked(connection, parts)
        try:
            with connection.transaction():
                limit_lock_waits(connection, LOOK_WAIT_MS)
                left_out = {"left_out": [one.relation for one in passed]}
                return connection.execute(composed("capture/ddl/unrecorded_ddl", **parts), left_out).fetchall(), passed
        except psycopg.errors.LockNotAvailable as error:
            waited = error
    raise waited


def _is_looked_at_between(connection: Connection, parts: Mapping[str, sql.Composable], one: Locked) -> bool:
    """Whether a table could be looked at before its next transaction, although somebody locks it again and again."""
    try:
        function = sql.SQL("{}(%s::oid)").format(parts["poll"])
        return _call_locked(connection, parts, function, one.relation, one.name, _MODE, _TRIES)
    except (TransientError, psycopg.errors.LockNotAvailable):
        return False


def _in_order(unseen: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Sort renames so that a table follows the one that had its new name before; renames in a circle have no such
    order.
    """
    left = list(unseen)
    borne = {row[3:] for row in left}
    while left:
        following = next((row for row in left if row[1:3] == row[3:] or row[1:3] not in borne), left[0])
        left.remove(following)
        borne.discard(following[3:])
        yield following


def _call_locked(
    connection: Connection,
    parts: Mapping[str, sql.Composable],
    function: sql.Composable,
    relation: int,
    name: TableName | None,
    mode: LiteralString,
    tries: int | None = None,
) -> bool:
    """Call a function for a table that is held meanwhile; what else it waits for, it waits for briefly.

    Returns:
        false if the table does not bear that name any more: then nothing was called.
    """
    with connection.transaction(), event_triggers.unheard(connection, parts):
        if name:
            triggers.lock(connection, [name], mode, tries)
            if relations.existing(connection, [name]).get(name, (None,))[0] != relation:
                return False
        limit_lock_waits(connection, LOOK_WAIT_MS)
        connection.execute(sql.SQL("SELECT ") + function, [relation])
    return True


class NewTables:
    """Wanted tables that are not watched yet, because no event trigger recorded them, or watching failed."""

    def __init__(self) -> None:
        self._next = float("-inf")
        self._left: dict[int, float] = {}

    def watch(self, connection: Connection, parts: Mapping[str, sql.Composable], *, always: bool) -> None:
        """Watch the new tables, with their rows. A table that cannot be watched now does not stop the others: it is
        tried again a minute later, and logged each time.

        Args:
            always: look at each call, and not only once a minute.
        """
        now = time.monotonic()
        if not always and now < self._next:
            return
        self._next = now + _AGAIN_S
        for relation, schema, table in connection.execute(composed("capture/ddl/unwatched", **parts)).fetchall():
            if now < self._left.get(relation, now):
                continue
            name = TableName(schema, table)
            try:
                adopt = sql.SQL("{}(%s::oid, NULL::text)").format(parts["adopt"])
                _call_locked(connection, parts, adopt, relation, name, _MODE, _TRIES)
            except (psycopg.Error, TransientError) as error:
                if connection.closed:
                    raise
                self._left[relation] = now + _AGAIN_S
                event("a table is not watched yet", table=name, why=error)


def take_up(connection: Connection, parts: Mapping[str, sql.Composable]) -> None:
    """Create the triggers of tables that are CREATING in the registry; a locked table is tried again at the next
    look and does not stop the others.
    """
    for relation, schema, table in connection.execute(composed("capture/ddl/registered", **parts)).fetchall():
        name = TableName(schema, table)
        try:
            function = sql.SQL("{}(%s::oid)").format(parts["take_up"])
            _call_locked(connection, parts, function, relation, name, "ACCESS EXCLUSIVE", _TRIES)
        except (psycopg.Error, TransientError) as error:
            if connection.closed:
                raise
            event("a table of the registry is not watched yet", table=name, why=error)


def see_again(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Recreate event triggers that were dropped or disabled, and send the DDL of the time without them."""
    if not event_triggers.is_blind(connection, resources):
        return
    event("event triggers lost", prefix=resources.name(""))
    with connection.transaction():
        event_triggers.watch_ddl(connection, resources, parts)
    _poll_printed(connection, parts)


def pin(connection: Connection, parts: Mapping[str, sql.Composable]) -> bool:
    """Without event triggers for new columns, make trigger functions print all types under fixed settings. False if
    columns changed before that: their images may be printed under other settings, and the sweep refuses them.
    """
    unpinned = connection.execute(composed("capture/ddl/unpinned", **parts)).fetchall()
    if not unpinned:
        return True
    event("event triggers lost", tables=len(unpinned))
    if _is_misread(connection, parts):
        return False
    with connection.transaction():
        for table in unpinned:
            connection.execute(sql.SQL("SELECT {}(%s::oid, %s::integer)").format(parts["capture_function"]), table)
    return True


class MissedDdl:
    """DDL that event triggers saw and could not record, or did not see: sent at the next look."""

    def __init__(self) -> None:
        self._next = float("-inf")

    def look(self, connection: Connection, parts: Mapping[str, sql.Composable], *, noted: bool = False) -> None:
        """Compare the catalog with what is recorded: once a minute, or at once if an event trigger has `noted` that it
        failed. Not while somebody alters a table that is to be looked at.
        """
        now = time.monotonic()
        if not noted and now < self._next:
            return
        failed = [key for (key,) in connection.execute(composed("capture/ddl/unrecorded", **parts))]
        try:
            with connection.transaction():
                limit_lock_waits(connection, LOOK_WAIT_MS)
                unseen = connection.execute(
                    composed("capture/ddl/unrecorded_ddl", **parts), {"left_out": []}
                ).fetchone()
        except psycopg.errors.LockNotAvailable:
            return
        self._next = now + _AGAIN_S
        if unseen:
            _poll_printed(connection, parts)
        connection.execute(composed("capture/ddl/looked", **parts), {"failed": failed})

    def hurry(self) -> None:
        """Look at the next opportunity, and not only when the minute is over."""
        self._next = float("-inf")

    def queued(self, connection: Connection, parts: Mapping[str, sql.Composable]) -> bool:
        """Whether anything is in the queue, or should be: what was not recorded is looked for now."""
        waiting, noted = self._look_noted(connection, parts)
        return waiting or noted

    def is_noted(self, connection: Connection, parts: Mapping[str, sql.Composable]) -> bool:
        """Whether there was DDL that was not recorded: it is looked for now."""
        return self._look_noted(connection, parts)[1]

    def _look_noted(self, connection: Connection, parts: Mapping[str, sql.Composable]) -> tuple[bool, bool]:
        waiting, noted = connection.execute(composed("capture/queue/queued", **parts)).fetchone() or (False, False)
        if noted:
            self.look(connection, parts, noted=True)
        return bool(waiting), bool(noted)


def _poll_printed(connection: Connection, parts: Mapping[str, sql.Composable]) -> None:
    """Nothing is sent once columns changed or partitions came: those images may be printed as their sessions liked, and
    the sweep refuses them (SLC-043).
    """
    if not _is_misread(connection, parts):
        poll(connection, parts, CatalogStamp("printed"))


def _is_misread(connection: Connection, parts: Mapping[str, sql.Composable]) -> bool:
    """Whether there may be images that cannot be decoded; detached partitions leave none."""
    row = connection.execute(composed("capture/ddl/layout_mismatch", **parts)).fetchone()
    return bool(row and not row[2])
