"""Installing what Sluice needs on a source and in its own store; and accepting a source that is no longer the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing, suppress

from sluice.capture import unwatched
from sluice.capture.successors import expect_newest
from sluice.context import Context
from sluice.errors import AlteredMeanwhile, Unwatchable, sanitize
from sluice.log import event
from sluice.model.foreign_code import ForeignCode
from sluice.model.names import Pair, TableName
from sluice.model.watched import Watch
from sluice.state.replication import DELIVERING, ReplicationEvent, Status
from sluice.store import blocked, kept_versions, leases, removal, replications, updates, upgrades, watched_tables
from sluice.vendors.protocol.capture import Installed
from sluice.vendors.protocol.master import Source

_UNSEEN = "its columns changed unseen"
# So often it is looked again which tables cannot be read, if some are altered meanwhile.
_LOOKS = 2
_LOST = (
    "its triggers were dropped or disabled by hand, or a publication altered, a foreign table made a partition of it, "
    "a type of its columns another one, or a command changed rows that no trigger sees (the publisher's log says so)"
)
_NOT_THERE = (
    "nothing was installed on the source any more: its DbResources were dropped, or another server took its place, and "
    "what changed since is not known"
)


def bootstrap(
    context: Context, source: str, *, recreate_triggers: bool = False, rebase: bool = False
) -> dict[str, object]:
    """Install or reconcile the DbResources and the registry; create the replications in the store.

    Args:
        recreate_triggers: make every trigger again, also where nothing is wrong with it.
        rebase: accept the source as it is now, after a restore or a failover, or if another control store had it; its
            slaves become INCONSISTENT.

    Raises:
        SluiceError: SLC-960, it waits for an upgrade of its server.
    """
    context.store.migrate()
    if not rebase:
        upgrades.expect_none(context.store, source)
    installed = reconcile(context, source, recreate=recreate_triggers, rebase=rebase)
    code = _foreign_code(context, source)
    if rebase:
        _rebase(context, source)
        upgrades.end(context.store, source, "given up by a rebase", replications.actor())
    return {
        "source": source,
        "added": [str(name) for name in installed.added],
        "removed": [str(name) for name in installed.removed],
        "changed_over": installed.changed_over,
        "order": [str(name) for stage in installed.stages for name in stage],
        "cycles": [[str(name) for name in cycle] for cycle in installed.cycles],
        "code_of_others": [finding.fact for finding in code],
        "unwatched": {str(table.name): unwatched.fact(table) for table in installed.unwatched},
    }


def reconcile(context: Context, source: str, *, recreate: bool = False, rebase: bool = False) -> Installed:
    """Install or reconcile the DbResources, for this control store alone.

    If columns of a watched table changed unseen (SLC-043), what is queued of it cannot be read any more and is
    forgotten; first the table is left out for slaves that lived on it, until they are filled with it. The same goes for
    tables whose triggers were dropped or disabled by hand (R9). If nothing is installed any more, the slaves become
    INCONSISTENT.

    Raises:
        SluiceError: SLC-552, another server took the place of this one; what it has is in no log.
    """
    database = context.source(source)
    try:
        installed = database.capture.is_installed()
        tail = context.manifest(source).tail()
        if tail and not rebase and (state := database.capture.state()):
            expect_newest(source, state, tail.incarnation, upgrades.former(context.store, source))
        watched, wanted = context.watched_tables(source), context.watch_settings(source)
        database.capture.claim(context.store.id, by_force=rebase)
        # Before any row of theirs can get to a slave.
        watched_tables.record(context.store, source, watched)
        database.capture.upgrade(wanted)
        unreadable = []
        if database.capture.is_installed():
            unreadable = _find_unreadable(database)
        elif tail is None:
            # No segment would tell that this is not what slaves were filled from.
            make_inconsistent(context, source, _NOT_THERE, {Status.NORMAL, Status.TRANSITION})
        if unreadable:
            leave_out(context, source, unreadable, _UNSEEN)
        if installed and (silenced := database.capture.silenced()):
            leave_out(context, source, silenced, _LOST)
        notice = _notice if context.config.source(source).bootstrap_warnings else None
        done = database.capture.install(watched, wanted, recreate=recreate, unreadable=unreadable, notice=notice)
        database.capture.claim(context.store.id, by_force=rebase)
        removal.note_returned(context.store, source)
        if done.changed_over:
            event("changed over", source=source, capture=context.config.source(source).capture)
        for table in done.unwatched:
            event("not watched", source=source, table=table.name, why=unwatched.fact(table))
        return done
    finally:
        database.close()


def _foreign_code(context: Context, source: str) -> list[ForeignCode]:
    """Functions of others that would run with our rights if tables were read; until that is corrected they are not."""
    with closing(context.source(source)) as database:
        code = database.master.foreign_code()
    for finding in code:
        event("code of others", source=source, table=finding.table, why=finding.fact, hint=finding.hint)
    return code


def _notice(text: str) -> None:
    event("the source says", text=text)


def heal(context: Context, source: str, database: Source) -> list[TableName]:
    """Watch tables that were added to the registry, and recreate triggers that were dropped or disabled; changes
    without them are unknown (R9).
    """
    database.capture.take_up()
    silenced = database.capture.silenced()
    if silenced:
        leave_out(context, source, silenced, _LOST, whole={Status.INITIAL})
        try:
            database.capture.install(context.watched_tables(source), context.watch_settings(source))
        except Unwatchable as error:
            # Bootstrap says it again. Until then changes of the other tables are not to pile up on the master (R8).
            event("not watched again", source=source, why=str(error))
    return silenced


def leave_unreadable(context: Context, source: str, database: Source) -> list[TableName]:
    """Leave out tables whose columns changed unseen, and forget what is queued of them, which cannot be read. What is
    queued of others stays as it is (R8). Tables that cannot be watched as they are now are left out, too.

    Raises:
        TransientError: SLC-036, SLC-095, others lock or alter one: nothing was done.
    """
    if unreadable := _find_unreadable(database):
        leave_out(context, source, unreadable, _UNSEEN, whole={Status.INITIAL})
        watched, wanted = context.watched_tables(source), context.watch_settings(source)
        try:
            database.capture.install(watched, wanted, unreadable=unreadable)
        except Unwatchable:
            unwatchable = _leave_unwatchable(context, source, database, watched)
            watched = {table: watch for table, watch in watched.items() if table not in unwatchable}
            database.capture.install(watched, wanted.without(unwatchable), unreadable=unreadable)
    return unreadable


def _leave_unwatchable(
    context: Context, source: str, database: Source, watched: Mapping[TableName, Watch]
) -> list[TableName]:
    """Leave out the watched tables that cannot be watched as they are now; these. Bootstrap says what to do."""
    unwatchable = []
    for table, watch in watched.items():
        try:
            database.capture.remarks({table: watch})
        except Unwatchable as error:
            unwatchable.append(table)
            leave_out(context, source, list(database.capture.present([table])), error.fact, whole={Status.INITIAL})
    return unwatchable


def _find_unreadable(database: Source) -> list[TableName]:
    """Send the changes of columns that can be told apart; return the tables whose changes cannot.

    Raises:
        AlteredMeanwhile: a table was altered during each look.
    """

    def look() -> list[TableName]:
        database.capture.poll_ddl()
        return database.capture.unreadable()

    for _ in range(_LOOKS):
        with suppress(AlteredMeanwhile):
            return look()
    return look()


def leave_out(
    context: Context, source: str, tables: Collection[TableName], why: str, *, whole: Collection[Status] = ()
) -> None:
    """Leave tables out for the slaves that are given them until they are filled again, since changes of them are lost.

    Args:
        why: said of each of the tables.
        whole: slaves in these states become INCONSISTENT.
    """
    names, why = sanitize(", ".join(map(str, tables))), sanitize(why)
    event("changes lost", source=source, tables=names, why=why)
    make_inconsistent(context, source, f"changes of {names} are not known: {why}", whole)
    for slave in context.config.slaves_of(source):
        pair, mapper = Pair(source, slave), context.config.slave(slave).mapper
        # One that is being filled may get other tables alone.
        if replications.get(context.store, pair).status in DELIVERING | {Status.INITIAL}:
            for table in tables:
                if not mapper.excludes(table):
                    blocked.skip(context.store, pair, table, f"the publisher, since changes of it are not known: {why}")


def lose_rows(context: Context, source: str, tables: Mapping[TableName, str | None]) -> None:
    """Leave tables out, of which rows are not published. Slaves that are being filled become INCONSISTENT, too.

    Args:
        tables: each with the reason; None: a row is too long.
    """
    most = context.config.source(source).max_row_mb
    long = f"a row has more text than the {most} MB that `max_row_mb` of the source allows, and was not published"
    for table, reason in tables.items():
        leave_out(context, source, [table], reason or long, whole={Status.INITIAL})


def make_inconsistent(context: Context, source: str, why: str, among: Collection[Status]) -> None:
    """Set slaves in one of these states INCONSISTENT, because changes of the source are lost; no initial update can be
    resumed, and no version that was kept can be filled from.
    """
    for slave in context.config.slaves_of(source):
        pair = Pair(source, slave)
        if replications.get(context.store, pair).status in among:
            replications.record(context.store, pair, ReplicationEvent.BREAK, why)
    updates.forget(context.store, source)
    kept_versions.keep_only(context.store, source, ())


def _rebase(context: Context, source: str) -> None:
    among = {Status.INITIAL, Status.TRANSITION, Status.NORMAL}
    make_inconsistent(context, source, "the source was restored or failed over", among)
    lease = leases.acquire(context.store, f"publish {source}", force=True)
    database = context.source(source)
    try:
        database.capture.take_over(lease.epoch)
        manifest = context.manifest(source)
        tail = manifest.tail()
        number, sha256 = (tail.number, tail.file.sha256) if tail else (0, "")
        manifest.rebase(database.capture.accept(lease.epoch, number, sha256))
        # No slave continues from here, so the rest of the old log, and its gaps, are not needed.
        if kept := manifest.kept_segments():
            manifest.mark_trimmed(kept)
            for segment in kept:
                context.files().remove(segment.file.name)
    finally:
        database.close()
        leases.release(context.store, lease)
