"""Finding what no event trigger saw, or could record, by comparing the catalog with what was recorded last; and entries
that somebody added to the registry."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from sluice.errors import TransientError
from sluice.log import event
from sluice.model.names import Resources, TableName
from sluice.vendors.postgresql.capture import event_triggers
from sluice.vendors.postgresql.capture.queue import triggers
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.change_stamp import CatalogStamp
from sluice.vendors.postgresql.session import Connection, composed

_AGAIN_S = 60.0
_MODE = "SHARE ROW EXCLUSIVE"
# To print a default, the server locks the table that has it; a partition that left is locked to lose its triggers.
# Shorter than the second after which servers look for deadlocks: no statement of a user is ended as the victim (R9).
LOOK_WAIT_MS = 200
# Where nothing is held meanwhile, as long as an ALTER that writes a table anew may last.
_PATIENCE_MS = 5000
# Nothing of a table that is not watched is queued, so nobody waits long for its lock.
_TRIES = 3


def poll(connection: Connection, parts: Mapping[str, sql.Composable], unchanged: CatalogStamp) -> None:
    """Send what changed of watched tables since the last look as commands.

    A table whose images cannot be told apart is left as it is; the sweep refuses to read it (SLC-043).

    Args:
        unchanged: since the last look of the same caller.

    Raises:
        TransientError: SLC-036 if a table stays locked, also one that did not change.
    """
    if unchanged.look(connection, parts):
        return
    with connection.transaction():
        connection.execute(sql.SQL("SET LOCAL lock_timeout = {}").format(_PATIENCE_MS))
        unseen = connection.execute(composed("capture/ddl/unrecorded_ddl", **parts)).fetchall()
    if not unseen:
        unchanged.is_fine()
    for relation, *names in _in_order(unseen):
        name = TableName(*names[:2]) if names[0] else None
        if not _told(connection, parts, sql.SQL("{}(%s::oid)").format(parts["poll"]), relation, name, _MODE):
            poll(connection, parts, unchanged)
            return


def _in_order(unseen: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Whoever bears the name now that another one had comes after that one, so that slaves can follow; names that went
    round in a circle have no such order."""
    left = list(unseen)
    borne = {row[3:] for row in left}
    while left:
        following = next((row for row in left if row[1:3] == row[3:] or row[1:3] not in borne), left[0])
        left.remove(following)
        borne.discard(following[3:])
        yield following


def _told(
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
            if relations.there(connection, [name]).get(name, (None,))[0] != relation:
                return False
        connection.execute(sql.SQL("SET LOCAL lock_timeout = {}").format(LOOK_WAIT_MS))
        connection.execute(sql.SQL("SELECT ") + function, [relation])
    return True


class NewTables:
    """Tables that are wanted and that nobody watches yet, because nobody saw them made, or something was in the way."""

    def __init__(self) -> None:
        self._next = float("-inf")
        self._left: dict[int, float] = {}

    def watch(self, connection: Connection, parts: Mapping[str, sql.Composable], *, always: bool) -> None:
        """Watch them, with the rows that they have. One that cannot be watched now stops nobody: it is tried again a
        minute later, and logged each time.

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
                _told(connection, parts, adopt, relation, name, _MODE, _TRIES)
            except (psycopg.Error, TransientError) as error:
                if connection.closed:
                    raise
                self._left[relation] = now + _AGAIN_S
                event("a table is not watched yet", table=name, why=error)


def take_up(connection: Connection, parts: Mapping[str, sql.Composable]) -> None:
    """Give tables of the registry that are CREATING their triggers; one that cannot get them now waits for the
    next look, and stops nobody."""
    for relation, schema, table in connection.execute(composed("capture/ddl/registered", **parts)).fetchall():
        name = TableName(schema, table)
        try:
            function = sql.SQL("{}(%s::oid)").format(parts["take_up"])
            _told(connection, parts, function, relation, name, "ACCESS EXCLUSIVE", _TRIES)
        except (psycopg.Error, TransientError) as error:
            if connection.closed:
                raise
            event("a table of the registry is not watched yet", table=name, why=error)


def see_again(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Make event triggers again that somebody dropped or disabled, and send what changed while nobody saw it."""
    if not event_triggers.is_blind(connection, resources):
        return
    event("event triggers lost", prefix=resources.name(""))
    with connection.transaction():
        event_triggers.watch_ddl(connection, resources, parts)
    _poll_printed(connection, parts)


def pin(connection: Connection, parts: Mapping[str, sql.Composable]) -> bool:
    """Where no event trigger sees new columns any more, have trigger functions print them under all settings. False if
    columns changed before that: those images may be printed as their sessions liked, and the sweep refuses them."""
    unpinned = connection.execute(composed("capture/ddl/unpinned", **parts)).fetchall()
    if not unpinned:
        return True
    event("event triggers lost", tables=len(unpinned))
    if connection.execute(composed("capture/ddl/layout_mismatch", **parts)).fetchone():
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
        failed. Not while somebody alters a table that is to be looked at."""
        now = time.monotonic()
        if not noted and now < self._next:
            return
        failed = [key for (key,) in connection.execute(composed("capture/ddl/unrecorded", **parts))]
        try:
            with connection.transaction():
                connection.execute(sql.SQL("SET LOCAL lock_timeout = {}").format(LOOK_WAIT_MS))
                unseen = connection.execute(composed("capture/ddl/unrecorded_ddl", **parts)).fetchone()
        except psycopg.errors.LockNotAvailable:
            return
        self._next = now + _AGAIN_S
        if unseen:
            _poll_printed(connection, parts)
        connection.execute(composed("capture/ddl/looked", **parts), {"failed": failed})

    def queued(self, connection: Connection, parts: Mapping[str, sql.Composable]) -> bool:
        """Whether anything is in the queue, or should be: what was not recorded is looked for now."""
        waiting, noted = connection.execute(composed("capture/queue/queued", **parts)).fetchone() or (False, False)
        if noted:
            self.look(connection, parts, noted=True)
        return bool(waiting or noted)


def _poll_printed(connection: Connection, parts: Mapping[str, sql.Composable]) -> None:
    """Nothing is sent once columns or partitions changed: those images may be printed as their sessions liked, and the
    sweep refuses them (SLC-043)."""
    if not connection.execute(composed("capture/ddl/layout_mismatch", **parts)).fetchone():
        poll(connection, parts, CatalogStamp())
