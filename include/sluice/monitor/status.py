"""The status of all replications: the table of `./sluice status` with its notes, and its JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

from sluice.airflow_api.pause import Pause
from sluice.changelog import initial_data
from sluice.context import Context
from sluice.drain import offline_slaves
from sluice.errors import TransientError
from sluice.model.blocking_transaction import BlockingTransaction
from sluice.model.comparison_scope import WHOLE
from sluice.model.kept_log import KeptLog
from sluice.model.names import Pair, TableName
from sluice.model.progress import ComparisonProgress, LoadProgress
from sluice.model.row_conflict import Tolerated
from sluice.monitor import advice
from sluice.monitor.run_configuration import RunConfiguration, last_runs, not_in_force
from sluice.monitor.run_outcome import RunOutcome
from sluice.paths import at_home
from sluice.state.condition import ReplicationCondition
from sluice.state.dispatcher import Dispatcher, Hold, gate_text
from sluice.state.initial_update import UpdateState
from sluice.state.replication import DELIVERING, Status
from sluice.store import updates
from sluice.store.replication_overview import ReplicationOverview, overviews
from sluice.store.replications import ReplicationState
from sluice.store.transfers import Transfer

_HEAD = ["SLAVE", "CONDITION", "STATUS", "DISPATCHER", "POSITION", "HOLDBACK", "LAG", "ROWS COMPARED", "ROWS DIFFERENT"]


@dataclass(frozen=True)
class HoldReason:
    """Why a gate is shut: the kind of the hold, by whom, why, and since when, as ISO 8601."""

    kind: str
    actor: str
    reason: str
    since: str | None


@dataclass(frozen=True)
class UpdateStatus:
    """The last initial update: its number and state, the DAG run that began it, as `dag/run`, and when."""

    id: int
    state: str
    run: str
    started_at: str
    ended_at: str | None


@dataclass(frozen=True)
class Beside:
    """Facts of a replication that the store does not have.

    Attributes:
        paused: its drain is, by whom.
        absent: its slave does not answer.
        source: the notes of its source.
    """

    paused: Pause | None = None
    absent: TransientError | None = None
    source: advice.SourceNotes = field(default_factory=advice.SourceNotes)


@dataclass(frozen=True)
class ReplicationStatus:
    """One replication. `holdback` counts transactions in the log that the slave lacks.

    Attributes:
        lag_s: the slave's delay behind its master: the age of the oldest transaction that it lacks in the log, or
            `unpublished_s` if that is more. 0 if it has everything, also where nothing happens.
        unpublished_s: the time since everything that its master had queued was last seen in the log; 0 if that is so,
            or the next look is not due.
        why: why it does not go on, what is safe and what to type, a line each; empty if all is well.
        publishing: the same of its source.
        unwatched: tables that its source is to watch and does not, each with its reason and what to type.
        lacking: the unwatched tables with rows that no slave gets.
        outdated: that event triggers of another version are there, and what to type.
        kept_log: what the master's server keeps of its own log for this source; None where triggers capture it.
        growing: that this is much, and what to type.
        odd: numbers of row conflicts since it was filled, by table of the slave and by kind; `tolerated` is their
            sum.
        loading: how far it is in being filled, if it is.
        stuck: the transaction that it stands in front of: ordinal, trans_key, first_key, last_key, touched tables.
        skipped: tables of the master that it is not given, and how many changes that were.
        excluded: entries of the configuration for tables that it does not get.
        answers: its server does.
        resting: that no drain is at work on what it lacks, and when the next one starts.
        draining: a drain is at work.
        holds: why its gate is shut.
        delivered_at: when it got something last, as ISO 8601.
        update: the last initial update, if there was one.
        batch_s: so long its drain took for its last batch, if there was one.
        scope: the rows that its last comparison was of, in words; empty if there was none.
        comparing: how far the comparison is that it is in, if it is in one.
        differing: how many rows of each table are known to differ, 0 if some may. A row stays known until it is found
            equal.
        differed: their sum.
        rejected: changes that it did not carry out, which are kept.
        awaits_files: its initial data is on its way by hand, or is to be released.
        configurations: those that the last runs of its drain and of the publisher went by.
        drain, publisher: how its drain's runs and its publisher's end: their last success, and their last error.
        late: it is further behind than `late_s` of its source allows.
        condition: how it is, in one word.
    """

    source: str
    slave: str
    status: str
    colour: str
    dispatcher: str
    why: str
    position: str
    holdback: int
    lag_s: float
    loaded: str
    tolerated: int
    compared: int | None
    different: int | None
    unpublished_s: float = 0.0
    publishing: str = ""
    unwatched: Sequence[str] = ()
    lacking: Sequence[str] = ()
    outdated: str = ""
    kept_log: KeptLog | None = None
    growing: str = ""
    odd: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    stuck: BlockingTransaction | None = None
    loading: LoadProgress | None = None
    comparing: ComparisonProgress | None = None
    skipped: Mapping[str, int] = field(default_factory=dict)
    excluded: Sequence[str] = ()
    answers: bool = True
    resting: str = ""
    draining: bool = False
    holds: Sequence[HoldReason] = ()
    delivered_at: str | None = None
    update: UpdateStatus | None = None
    batch_s: float | None = None
    scope: str = ""
    differing: Mapping[str, int] = field(default_factory=dict)
    rejected: int = 0
    differed: int = 0
    awaits_files: bool = False
    configurations: Sequence[RunConfiguration] = ()
    drain: RunOutcome = field(default_factory=RunOutcome)
    publisher: RunOutcome = field(default_factory=RunOutcome)
    late: bool = False
    condition: ReplicationCondition = ReplicationCondition.WELL

    @property
    def pair(self) -> Pair:
        """The replication."""
        return Pair(self.source, self.slave)

    @property
    def well(self) -> bool:
        """Whether it gets all that it is to get, and no row is known to differ."""
        return self.condition is ReplicationCondition.WELL

    def conditions(self) -> Iterator[tuple[ReplicationCondition, bool]]:
        """Each condition, the one that matters most first, and whether it holds."""
        holds = {hold.kind for hold in self.holds}
        yield ReplicationCondition.INCONSISTENT, self.status == Status.INCONSISTENT
        yield ReplicationCondition.STOPPED, Hold.EXCEPTION in holds
        yield ReplicationCondition.QUESTION, Hold.APPROVAL in holds
        yield ReplicationCondition.UNREACHABLE, not self.answers
        yield ReplicationCondition.FILES, self.awaits_files
        yield ReplicationCondition.DIFFERENT, bool(any(self.differing.values()) or self.rejected)
        yield ReplicationCondition.INCOMPLETE, bool(self.skipped or self.lacking)
        yield ReplicationCondition.DOUBTFUL, bool(self.differing)
        yield ReplicationCondition.UNPUBLISHED, bool(self.publishing)
        yield ReplicationCondition.UNCONFIGURED, self.status == Status.UNCONFIGURED
        yield ReplicationCondition.FILLED, self.status == Status.INITIAL
        yield ReplicationCondition.STANDBY, self.dispatcher != Dispatcher.ACTIVE
        yield ReplicationCondition.CATCHING_UP, self.status == Status.TRANSITION
        yield ReplicationCondition.LATE, self.late
        yield ReplicationCondition.WELL, True


def statuses(context: Context, *pairs: Pair) -> list[ReplicationStatus]:
    """These replications; every configured one, in the file's order, if none is named."""
    for pair in pairs:
        context.config.replication(pair.source, pair.slave)
    pairs = pairs or tuple(Pair(replication.source, replication.slave) for replication in context.config.replications)
    sources = {name: advice.for_source(context, name) for name in dict.fromkeys(pair.source for pair in pairs)}
    absent = offline_slaves.find_unreachable(context, pairs)
    beside = {pair: Beside(context.switch(pair).find_pause(), absent.get(pair), sources[pair.source]) for pair in pairs}
    by_pair = overviews(context.store, pairs, by_table=True)
    return [explain(context, overview, beside[pair], resting=True) for pair, overview in by_pair.items()]


def brief(context: Context, pair: Pair) -> str:
    """One replication as the store knows it, in a few lines, for the notes of its drain's runs."""
    (overview,) = overviews(context.store, [pair]).values()
    row = explain(context, overview, Beside(context.switch(pair).find_pause()), resting=True)
    head = f"{row.status}, {row.dispatcher}: position {row.position}, holdback {row.holdback:,}, lag {row.lag_s:.0f} s"
    return "\n".join(filter(None, [head, row.why]))


def as_json(rows: Sequence[ReplicationStatus]) -> str:
    """Replications as JSON, for programs."""
    return json.dumps([asdict(row) for row in rows], indent=2).replace("\x7f", r"\u007f")


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table whose columns are as wide as their longest cells."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def as_table(rows: Sequence[ReplicationStatus]) -> str:
    """Replications as a table, for people."""
    several = len({row.source for row in rows}) > 1
    body = [
        (
            f"{row.source}->{row.slave}" if several else row.slave,
            row.condition,
            row.status + (f" {row.loaded}" if row.loaded else ""),
            row.dispatcher,
            row.position,
            f"{row.holdback:,}",
            f"{row.lag_s:.0f} s",
            _compared_text(row),
            "-" if row.different is None and not row.differed else f"{row.differed:,}",
        )
        for row in rows
    ]
    lines = align([_HEAD, *body])
    notes = {f"source {row.source}: {row.publishing}": None for row in rows if row.publishing}
    notes |= {f"source {row.source}: {note}": None for row in rows for note in row.unwatched}
    notes |= {f"source {row.source}: {row.outdated}": None for row in rows if row.outdated}
    loads = [(row, row.loading) for row in rows if row.loading]
    notes |= {
        f"slave {row.slave} of {row.source}: {text}": None
        for row, load in loads
        for text in (load.summary, load.tables)
        if text
    }
    notes |= {
        f"slave {row.slave} of {row.source}: compared: {row.comparing.text}": None for row in rows if row.comparing
    }
    notes |= {
        f"source {row.source}: {row.growing or row.kept_log.summary}": None for row in rows if row.kept_log is not None
    }
    notes |= {f"slave {row.slave} of {row.source}: {row.why}": None for row in rows if row.why}
    notes |= {f"slave {row.slave} of {row.source}: {row.resting}": None for row in rows if row.resting}
    notes |= dict.fromkeys(not_in_force({row.pair: row.configurations for row in rows}))
    return "\n".join([*lines, *(note.replace("\n", "\n    ") for note in notes)])


def _compared_text(row: ReplicationStatus) -> str:
    if row.compared is None:
        return "-"
    return f"{row.compared:,}" if row.scope == WHOLE else f"{row.compared:,} ({row.scope})"


def brief_status(context: Context, overview: ReplicationOverview, beside: Beside) -> ReplicationStatus:
    """The status without its reasons: nothing more is asked for it, however many there are."""
    replication, source = overview.known, beside.source
    kinds = frozenset(overview.holds)
    if beside.paused and Hold.EXCEPTION not in kinds:
        kinds |= {Hold.ADMIN}
    loaded, loading = _load(overview)
    differing = _watched_tables(context, replication.pair, overview.differing)
    status = ReplicationStatus(
        source=replication.pair.source,
        slave=replication.pair.slave,
        status=replication.status,
        colour=replication.status.colour,
        dispatcher=gate_text(kinds, replication.status),
        why="",
        position=str(replication.position),
        holdback=overview.holdback,
        lag_s=overview.lag_s,
        unpublished_s=overview.unpublished_s,
        loaded=loaded,
        loading=loading,
        tolerated=overview.conflicts.total(),
        odd=_by_table(overview.conflicts),
        stuck=overview.stuck,
        skipped={str(table): skip.changes for table, skip in overview.skipped.items()},
        excluded=context.config.slave(replication.pair.slave).mapper.exclusions,
        comparing=overview.comparing,
        compared=overview.compared,
        different=overview.different,
        scope=overview.scope,
        differing=differing,
        differed=sum(differing.values()),
        rejected=overview.rejected,
        awaits_files=overview.carried is not None and (overview.carried.epoch is None or overview.carried.is_in),
        publishing=source.publishing or advice.for_publisher(context, overview),
        unwatched=source.unwatched,
        lacking=source.lacking,
        outdated=source.outdated,
        kept_log=source.kept,
        growing=source.growing,
        answers=beside.absent is None,
        draining=overview.draining,
        holds=[HoldReason(hold.kind, hold.actor, hold.reason, _iso(hold.since)) for hold in overview.holds.values()],
        delivered_at=_iso(replication.delivered_at),
        update=_last(overview),
        batch_s=overview.batch_s,
        configurations=list(last_runs(context, overview)),
        drain=RunOutcome.from_store(overview.drain_outcome),
        publisher=RunOutcome.from_store(overview.publisher_outcome),
        late=replication.status in DELIVERING
        and overview.lag_s > context.config.source(replication.pair.source).late_after_s,
    )
    return replace(status, condition=next(condition for condition, holds in status.conditions() if holds))


def explain(
    context: Context, overview: ReplicationOverview, beside: Beside, *, resting: bool = False
) -> ReplicationStatus:
    """The status with its reasons: why it does not go on, what is safe and what to type.

    Args:
        resting: ask Airflow when the next drain starts.
    """
    status, replication, pair = brief_status(context, overview, beside), overview.known, overview.known.pair
    stored = at_home(context.config.source(pair.source).initial_files.location)
    if beside.source.removed:
        # What its slaves lack they are not to get.
        return status
    why = [
        *advice.for_absence(beside.absent, replication.status),
        *advice.for_gate(pair, overview.holds, beside.paused, _transfer_note(context, replication, overview.carried)),
        *advice.for_status(context.store, pair, overview, stored, status.differing),
        *advice.for_conflicts(pair, overview.conflicts),
        *advice.for_skipped_tables(pair, overview.skipped),
    ]
    open_to_it = replication.status in DELIVERING and status.dispatcher == Dispatcher.ACTIVE and not beside.absent
    if status.condition is ReplicationCondition.LATE:
        why.append(advice.for_lag(context, overview))
    rests = advice.for_pause(context, pair, overview.holdback) if resting and open_to_it else ""
    return replace(status, why="\n".join(why), resting=rests)


def _watched_tables(context: Context, pair: Pair, differing: Mapping[str, int]) -> dict[str, int]:
    """The tables that the source watches now and the slave gets."""
    return {table: rows for table, rows in differing.items() if context.gives(pair, TableName(*table.split(".", 1)))}


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _last(overview: ReplicationOverview) -> UpdateStatus | None:
    if (last := overview.update) is None:
        return None
    return UpdateStatus(last.id, last.state, last.run, last.started_at.isoformat(), _iso(last.ended_at))


def _transfer_note(context: Context, known: ReplicationState, carried: Transfer | None) -> str | None:
    """A note about the transfer that has to end before the gate of a slave opens; None if there is none."""
    if carried and carried.is_in:
        return advice.for_loaded_files(carried)
    if updates.is_put_off(context.store, known) or (carried and initial_data.holds(context.config, carried)):
        return advice.for_kept(known.pair, carried, {} if carried else updates.choices(context.store, known.update_id))
    location = at_home(context.config.slave(known.pair.slave).initial_files.location)
    return advice.for_transfer(carried, location) if carried else None


def _by_table(odd: Tolerated) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for (table, conflict), rows in sorted(odd.items()):
        counts.setdefault(str(table), {})[conflict] = rows
    return counts


def _load(overview: ReplicationOverview) -> tuple[str, LoadProgress | None]:
    """The state and the progress of the load of a slave, once it has begun: by blocks, chunks, carried files or
    programs.
    """
    if overview.update is None or not overview.update.progress.has_begun:
        return "", None
    progress, status, awaited = overview.update.progress, overview.known.status, overview.carried
    if overview.update.state == UpdateState.LOADING_BLOCKS and status is Status.TRANSITION:
        return f"{progress.rows:,} rows in blocks", progress
    if status is Status.INITIAL or (awaited and not awaited.is_in and awaited.epoch is not None):
        return f"{progress.chunks_done}/{progress.chunks} chunks" if progress.chunks else "by programs", progress
    return "", None
