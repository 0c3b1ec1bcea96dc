"""Notes below the table of `./sluice status`: the fact, the state of the data, and the commands to type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from sluice import hints, shell
from sluice.airflow_api.pause import Pause
from sluice.capture import unwatched
from sluice.context import Context
from sluice.errors import SluiceError, TransientError, sanitize
from sluice.model.kept_log import KeptLog
from sluice.model.names import INITIAL_UPDATE, RECEIVE_INITIAL_FILES, Pair, TableName, dag_id
from sluice.model.row_conflict import RowConflict, Tolerated
from sluice.state.dispatcher import Hold
from sluice.state.initial_update import IN_BLOCKS, RESUMABLE, UpdateState
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import leases, removal, replications, updates, upgrades
from sluice.store.blocked import SkippedTable
from sluice.store.engine import Store
from sluice.store.replication_overview import ReplicationOverview
from sluice.store.replications import HoldNote
from sluice.store.tables import audit, initial_update
from sluice.store.transfers import Transfer

_BREAKING = (ReplicationEvent.FAIL, ReplicationEvent.CANCEL, ReplicationEvent.CLEAR, ReplicationEvent.BREAK)
_CONFLICTS = {RowConflict.MISSING: "missing", RowConflict.DUPLICATE: "there already"}
_KEPT = "The change log keeps everything for it"
# So many tables are named in one note.
_MOST_TABLES = 5


def for_transfer(awaited: Transfer, location: str) -> str:
    """A note: where the initial data is that is carried to a slave (guide: "Quick checklist for manual transfer")."""
    return (
        f"Manual Data transfer: WAITING (stored on '{awaited.url}'). {_KEPT}.\n"
        f"HINT: copy that directory to {location}, which the slave's side sees. "
        f"A run of receive_initial_files loads it when it is there: {_receive(awaited.pair)}"
    )


def for_loaded_files(loaded: Transfer) -> str:
    """A note: everything is loaded, and the gate is still shut."""
    return (
        f"Manual Data transfer: LOADED ({loaded.rows:,} rows, stored on '{loaded.url}'), and not released. {_KEPT}.\n"
        f"HINT: answer what receive_initial_files asks in Airflow (Required actions). To be asked again, type: "
        f"{_receive(loaded.pair)}"
    )


def _receive(pair: Pair) -> str:
    return shell.trigger(RECEIVE_INITIAL_FILES, source=pair.source, slave=pair.slave)


def for_kept(pair: Pair, awaited: Transfer | None, choices: Mapping[str, object]) -> str:
    """A note: the slave is filled once it can be reached.

    Args:
        awaited: what is stored for it in the change log; None if its update is still to begin.
        choices: of the form of that.
    """
    reason, by = "it could not be reached when it was to be filled; nothing was read for it yet", INITIAL_UPDATE
    anew = shell.update(pair.source, [pair.slave], **choices)
    if awaited:
        reason, by = f"its initial data waits in the change log, on '{awaited.url}'. {_KEPT}", RECEIVE_INITIAL_FILES
        anew = _receive(pair)
    return (
        f"{reason}.\nHINT: its drain triggers {by}, once, when it can be reached: is it started, and its connection "
        f"right? If that run failed, type: {anew}"
    )


def for_absence(error: TransientError | None, status: Status) -> Iterator[str]:
    """A note: the server of the slave does not answer."""
    if error:
        kept = f" {_KEPT}." if status in (Status.NORMAL, Status.TRANSITION) else ""
        yield f"it does not answer: {error.fact}.{kept}\nHINT: {error.hint}"


def for_gate(
    pair: Pair, held: Mapping[Hold, HoldNote], paused: Pause | None, awaited: str | None = None
) -> Iterator[str]:
    """Why a gate is shut, and what opens it.

    Args:
        awaited: what is said of data that is on its way by hand.
    """
    for note in held.values():
        begins = f"STANDBY ({note.kind}) since {_at(note.since)}, by {note.actor}: "
        if note.kind is Hold.EXCEPTION:
            yield f"{begins}its drain met an error. {_KEPT}.\n{note.reason}"
        elif note.kind is Hold.APPROVAL:
            yield f"{begins}it waits for a decision. {_KEPT}.\n{note.reason}"
        elif note.kind is Hold.ADMIN:
            yield f"{begins}{note.reason}. {_KEPT}.\nHINT: to go on, type: {shell.unpause(pair)}"
        elif awaited:
            yield awaited
        else:
            yield f"{begins}{note.reason}. Nothing is to be typed: its gate opens when the data is in"
    if paused and not held.keys() & {Hold.ADMIN, Hold.EXCEPTION}:
        who = paused.actor or "somebody"
        kept = "" if held else f" {_KEPT}."
        yield f"STANDBY (ADMIN): the drain DAG is paused by {who}.{kept}\nHINT: to go on, type: {shell.unpause(pair)}"


def for_status(
    store: Store, pair: Pair, overview: ReplicationOverview, location: str, differing: Mapping[str, int]
) -> Iterator[str]:
    """Why a slave gets no changes, or may not equal its master.

    Args:
        location: where its source stores what is carried by hand.
        differing: rows that are known to differ, of tables that it is given.
    """
    status = overview.known.status
    anew = f"fill it, which replaces what its watched tables hold; type: {shell.update(pair.source, [pair.slave])}"
    if status is Status.UNCONFIGURED:
        yield f"UNCONFIGURED: it was never filled, and gets no changes.\nHINT: {anew}"
    elif status is Status.INCONSISTENT:
        yield (
            f"INCONSISTENT{_since(store, pair)}.\nIt gets no changes, and keeps the data that it has.\n"
            f"HINT: once the cause is fixed, {anew}{_or_resume(store, pair, location)}"
        )
    elif any(differing.values()):
        yield (
            f"{_rows(sum(differing.values()))} known to differ from the master's, in {_tables(differing)}.\n"
            f"HINT: {hints.by_repair({pair: [table for table, rows in differing.items() if rows]})}"
        )
    doubtful = [table for table, rows in differing.items() if not rows]
    if doubtful and status not in (Status.UNCONFIGURED, Status.INCONSISTENT):
        again = shell.trigger("verify", source=pair.source, slaves=[pair.slave], tables=doubtful)
        yield (
            f"{', '.join(doubtful)}: somebody emptied, rewrote or replaced it on {pair.slave} beside the drain, or a "
            f"logical copy took the master's place; rows may differ.\nHINT: compare all its rows: {again}"
        )
    if overview.rejected and status is not Status.UNCONFIGURED:
        changes = "1 change is" if overview.rejected == 1 else f"{overview.rejected:,} changes are"
        yield (
            f"{changes} kept that {pair.slave} did not carry out.\n"
            f"HINT: to see what is kept: {shell.rejected_changes(pair)}. If a repair has made up for one, drop it; to "
            "carry one out overwrites newer changes of the same row"
        )


def _rows(count: int) -> str:
    return "1 row is" if count == 1 else f"{count:,} rows are"


def _tables(differing: Mapping[str, int]) -> str:
    different = [(table, rows) for table, rows in differing.items() if rows]
    named = [f"{table} ({rows:,})" for table, rows in different[:_MOST_TABLES]]
    more = len(different) - len(named)
    return ", ".join(named) + (f" and {more:,} more tables" if more else "")


def _or_resume(store: Store, pair: Pair, location: str) -> str:
    """The other way, if an update broke off whose chunks may stay; and where these are, if they are files."""
    number = replications.get(store, pair).update_id
    known = select(initial_update.c.state).where(initial_update.c.id == number, initial_update.c.snapshot.is_not(None))
    with store.begin() as connection:
        state = connection.execute(known).scalar()
    in_blocks = state in (*IN_BLOCKS, UpdateState.CANCELLED_IN_BLOCKS)
    if state not in RESUMABLE:
        return ""
    choices = updates.choices(store, number) | ({"mode": "online"} if in_blocks else {})
    choices.pop("resume", None)
    stored = bool(choices.get("store_initial_data"))
    # Who gets the same files goes on together.
    slaves = updates.abandoned_slaves(store, number) if stored else [pair.slave]
    resumed = shell.update(pair.source, slaves, **choices, resume=True)
    hint = f"\nHINT: or go on where the initial update broke off: {resumed}"
    if not stored:
        return hint
    anew = shell.update(pair.source, slaves, **choices)
    return f"{hint}\nWhat it stored stays in {location} until then. To have it removed, and stored anew: {anew}"


def for_pause(context: Context, pair: Pair, holdback: int) -> str:
    """A note: the holdback waits for the next run of the drain. Empty while one is running. The gate is open."""
    if not holdback or leases.is_held(context.store, f"drain {pair}"):
        return ""
    starts = context.runs().next_run("drain", pair.source, pair.slave)
    at = f"at {_at(starts.astimezone())}" if starts else ""
    asked_for = context.config.replication(pair.source, pair.slave).schedule.run_for_s > 0
    if asked_for and not context.publish_switch(pair.source).find_pause():
        when = f"the publisher asks for one{f'; {at} it starts anyhow' if at else ''}"
    else:
        when = f"it starts {at or 'by itself'}"
    waiting = "1 transaction waits" if holdback == 1 else f"{holdback:,} transactions wait"
    return f"{waiting} for the next run of its drain: {when}"


def for_conflicts(pair: Pair, conflicts: Tolerated) -> Iterator[str]:
    """A note: tables with row conflicts that were resolved."""
    if conflicts:
        text = ", ".join(
            f"{table} {rows:,} {_CONFLICTS[conflict]}" for (table, conflict), rows in sorted(conflicts.items())
        )
        yield (
            f"rows were not as expected, and were put right: {text}.\n"
            f"HINT: find out who else writes to {pair.slave}; run verify to see whether anything else differs"
        )


def for_skipped_tables(pair: Pair, skipped: Mapping[TableName, SkippedTable]) -> Iterator[str]:
    """Notes: the tables that a slave skips."""
    for table, skip in skipped.items():
        yield (
            f"{sanitize(str(table))} is left out since {_at(skip.since)}, by {skip.actor}: "
            f"{skip.changes:,} changes were not delivered.\n"
            "HINT: to have it again, fill it, which replaces what it holds there; type: "
            f"{shell.update(pair.source, [pair.slave], tables=[str(table)])}"
        )


@dataclass(frozen=True)
class SourceNotes:
    """The advice about a source.

    Attributes:
        publishing: why nothing of it is published, if that is so: a slave without holdback may be old then.
        unwatched: tables that are to be watched and are not, or that cannot be read.
        lacking: the unwatched tables with rows that no slave gets.
        outdated: event triggers that an older version wrote are there.
        kept: what the server keeps of its own log until it is published, where changes are read from that.
        growing: that this is much, and what to type.
        removed: somebody removed it; `publishing` says so.
    """

    publishing: str = ""
    unwatched: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    outdated: str = ""
    kept: KeptLog | None = None
    growing: str = ""
    removed: bool = False


def for_source(context: Context, source: str) -> SourceNotes:
    """The notes of a source."""
    paused = context.publish_switch(source).find_pause()
    if awaited := upgrades.find(context.store, source):
        # Of its tables nothing can be said before there is a server.
        return SourceNotes(f"{awaited.fact}.\nHINT: {awaited.hint}")
    try:
        database = context.source(source)
        try:
            installed = database.capture.is_installed()
            if not installed and (gone := _removal_note(context, source)):
                return SourceNotes(gone, removed=True)
            if installed:
                # It sees that a log does not lead on, before a publisher does.
                database.capture.queued()
            uncaptured = database.capture.unwatched(list(context.watched_tables(source, database)))
            outdated = outdated_events(source) if database.capture.has_outdated_events() else ""
            locked = database.capture.locked() if installed else []
            code = database.master.foreign_code()
            kept = database.capture.kept_log() if installed else None
        finally:
            database.close()
    except SluiceError as error:
        if gone := _removal_note(context, source):
            return SourceNotes(gone, removed=True)
        waits = context.capture_way(source).waiting
        unread = f"nothing is published: the source cannot be read. {waits}.\n{error}"
        return SourceNotes(_pause_note(context, source, paused) if paused else unread)
    publishing = _pause_note(context, source, paused) if paused else ""
    notes = {unwatched.note(context, source, table): table.reason.loses for table in uncaptured}
    notes |= {
        f"{table}: if it is altered, that is seen when the lock ends.\nHINT: all other tables go on": False
        for table in locked
    }
    notes |= {f"to read it would run code of others: {note.fact}.\nHINT: {note.hint}": True for note in code}
    lacking = tuple(note for note, loses in notes.items() if loses)
    growing = for_kept_log(context, source, kept)
    return SourceNotes(publishing, tuple(notes), lacking, outdated, kept, growing)


def for_removed(context: Context, source: str) -> str:
    """A note: somebody removed the source, and it is not installed any more, or cannot be asked. Empty otherwise."""
    if note := _removal_note(context, source):
        with suppress(SluiceError), closing(context.source(source)) as database:
            return "" if database.capture.is_installed() else note
    return note


def _removal_note(context: Context, source: str) -> str:
    """A note if the store says that somebody removed the source. Empty otherwise."""
    try:
        gone = removal.find_removed(context.store, source)
    except SluiceError:
        return ""
    if gone is None:
        return ""
    out = "take it and its replications out of the configuration; or, to have it again"
    return f"{gone}. Nothing of it is captured.\nHINT: {out}, {gone.again}"


def for_kept_log(context: Context, source: str, kept: KeptLog | None) -> str:
    """A note: the server keeps much of its own log, since it is not published. Empty if it does not."""
    if kept is None or not kept.is_urgent(context.config.source(source).slot_retains_mb):
        return ""
    disk = "the master's disk" if kept.behind_bytes is None else "the standby's disk"
    then = f"{disk} fills" if kept.left_bytes is None else "all slaves of the source have to be filled anew"
    return (
        f"{kept.summary}. If that goes on, {then}.\n"
        "HINT: look in pg_stat_activity and pg_prepared_xacts of the master for old transactions, and whether the DAG "
        f"{context.config.dag_id('publish', source)} runs; if it is paused, type: {shell.unpause_publish(source)}"
    )


def outdated_events(source: str) -> str:
    """A note: the event triggers for the role of a source have to be made again."""
    return (
        "its event triggers are those of another version of Sluice, so DDL is found by polling.\n"
        "HINT: nothing is lost. Let who may make them, on plain PostgreSQL a superuser, run the script of "
        f"`{shell.sluice('grants', source)}` again in its database: they run whenever somebody alters a table, and an "
        "older version made them less safe"
    )


def _pause_note(context: Context, source: str, by: Pause) -> str:
    way = context.capture_way(source)
    return (
        f"nothing is published: the DAG {context.config.dag_id('publish', source)} is paused by "
        f"{by.actor or 'somebody'}.\n"
        f"{way.waiting}, {way.unread}.\nHINT: to go on, type: {shell.unpause_publish(source)}"
    )


def for_publisher(context: Context, overview: ReplicationOverview) -> str:
    """A note: the last runs of the publisher achieved nothing, or none is at work. Empty if all is well."""
    source, outcome = overview.known.pair.source, overview.publisher_outcome
    waits, last = context.capture_way(source).waiting, outcome.succeeded_at
    late = overview.quiet_s > context.config.source(source).late_after_s
    since = f"nothing is published since {_at(last)}" if last else "nothing was ever published"
    # Without any success nothing tells for how long it fails.
    if outcome.fails and (late or outcome.lasting or last is None):
        again = f"Later runs try it again; at once: {shell.trigger(dag_id('', 'publish', source))}"
        return f"{since}: the last run failed at {_at(outcome.failed_at)}. {waits}.\n{outcome.error}. {again}"
    if late and not overview.publishing:
        return (
            f"{since}: no run of its publisher is at work. {waits}.\n"
            f"HINT: does Airflow run? The last log of the DAG {context.config.dag_id('publish', source)} says why; see "
            "Nothing is published, in the runbook"
        )
    return ""


def for_lag(context: Context, overview: ReplicationOverview) -> str:
    """A note: why a slave is late, whose source is published."""
    pair, outcome, dag = overview.known.pair, overview.drain_outcome, context.config.dag_id
    behind = f"late: it is {overview.lag_s:,.0f} s behind its master"
    if overview.unpublished_s >= overview.waiting_s:
        return f"{behind}, since its publisher is.\nHINT: the log of {dag('publish', pair.source)} says what it does"
    if outcome.fails:
        return f"{behind}: its last drain failed at {_at(outcome.failed_at)}. {_KEPT}.\n{outcome.error}"
    if overview.draining:
        return f"{behind}. A drain is at work.\nHINT: the chart of its lag tells whether it catches up"
    since = f" since {_at(outcome.succeeded_at)}" if outcome.succeeded_at else ""
    return (
        f"{behind}: no drain is at work{since}. {_KEPT}.\nHINT: does Airflow run, and has its pool free slots? The "
        f"last log of the DAG {dag('drain', pair.source, pair.slave)} says why"
    )


def _since(store: Store, pair: Pair) -> str:
    """When a slave became INCONSISTENT, by whom, and why, as the audit trail has it."""
    wanted = (
        select(audit)
        .where(audit.c.source == pair.source, audit.c.slave == pair.slave, audit.c.event.in_(_BREAKING))
        .order_by(audit.c.id.desc())
        .limit(1)
    )
    with store.begin() as connection:
        row = connection.execute(wanted).one_or_none()
    if row is None:
        return ""
    why = row.detail.partition(": ")[2]
    return f" since {_at(row.at)}, by {row.actor}{f': {why}' if why else ''}"


def _at(moment: datetime | None) -> str:
    return "an unknown time" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S %Z}".strip()
