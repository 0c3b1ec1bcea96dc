"""The state of replications, as the store has it: all of them by one query, whatever the length of the log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Row, text

from sluice.model.blocking_transaction import BlockingTransaction
from sluice.model.comparison_scope import scope
from sluice.model.history import HistoryPoint
from sluice.model.names import Pair, TableName
from sluice.model.position import Position
from sluice.model.progress import ComparisonProgress, LoadProgress
from sluice.model.row_conflict import Tolerated, conflict_counts
from sluice.sqlfiles import statement
from sluice.state.dispatcher import Hold
from sluice.state.initial_update import UpdateState
from sluice.state.replication import Status
from sluice.store.blocked import SkippedTable
from sluice.store.engine import Store
from sluice.store.leases import Lease
from sluice.store.outcomes import Outcome
from sluice.store.replications import HoldNote, ReplicationState, approval
from sluice.store.transfers import Transfer, from_row


@dataclass(frozen=True)
class LastUpdate:
    """The last initial update of a replication. `run` is the DAG run that began it, as `dag/run`."""

    id: int
    state: UpdateState
    run: str
    started_at: datetime
    ended_at: datetime | None
    progress: LoadProgress


@dataclass(frozen=True)
class ReplicationOverview:
    """One replication.

    Attributes:
        holdback: transactions in the log that it lacks; `waiting_s` is the age of the oldest of them.
        unpublished_s: for so long changes may have been waiting to be published; 0 while everything is in the log.
        draining, publishing: a drain is at work; a publisher is.
        quiet_s: the seconds since the last success of the publisher; 0 if there was none.
        drain, publisher: the lease of the last drain, and of the last publisher of its source; None if there was none.
        drain_outcome, publisher_outcome: how their runs end.
        carried: initial data on its way by hand.
        comparing: the progress of the comparison that it is in; None if it is in none.
        compared, different: rows of its last comparison; None if there was none.
        scope: the rows that were compared then, in words; empty if there was none.
        differing: how many rows of each table of the master are known to differ. Any comparison may have found them.
        rejected: changes that the slave did not carry out, which are kept.
        batch_s: so long its drain took for its last batch; None if there was none.
        recent: how it was in the last hour, if that was asked for.
    """

    known: ReplicationState
    holdback: int = 0
    waiting_s: float = 0.0
    unpublished_s: float = 0.0
    draining: bool = False
    publishing: bool = False
    quiet_s: float = 0.0
    drain: Lease | None = None
    publisher: Lease | None = None
    drain_outcome: Outcome = field(default_factory=Outcome)
    publisher_outcome: Outcome = field(default_factory=Outcome)
    holds: Mapping[Hold, HoldNote] = field(default_factory=dict)
    conflicts: Tolerated = field(default_factory=Tolerated)
    skipped: Mapping[TableName, SkippedTable] = field(default_factory=dict)
    stuck: BlockingTransaction | None = None
    carried: Transfer | None = None
    update: LastUpdate | None = None
    comparing: ComparisonProgress | None = None
    compared: int | None = None
    different: int | None = None
    scope: str = ""
    differing: Mapping[str, int] = field(default_factory=dict)
    rejected: int = 0
    batch_s: float | None = None
    recent: Sequence[HistoryPoint] = ()

    @property
    def lag_s(self) -> float:
        """The seconds by which the slave is behind its master; 0 if it has everything, also where nothing happens."""
        return max(self.waiting_s, self.unpublished_s)


def overviews(
    store: Store, pairs: Sequence[Pair], *, recent: bool = False, by_table: bool = False
) -> dict[Pair, ReplicationOverview]:
    """These replications; UNCONFIGURED, if nothing was ever done with one.

    Args:
        recent: with how they were in the last hour.
        by_table: with the progress of each table that is being filled.
    """
    query = text(statement("control", "standings"))
    with store.begin() as connection:
        values = {"named": [f"{pair.source}\n{pair.slave}" for pair in pairs], "recent": recent, "by_table": by_table}
        rows = connection.execute(query, values).all()
    overviews = {Pair(row.source, row.slave): _overview(row) for row in rows}
    return {pair: overviews.get(pair) or ReplicationOverview(_unknown(pair)) for pair in pairs}


def _unknown(pair: Pair) -> ReplicationState:
    return ReplicationState(pair, Status.UNCONFIGURED, Position(0, 0), None, None)


def _overview(row: Row[Any]) -> ReplicationOverview:
    pair, position = Pair(row.source, row.slave), Position(row.segment, row.ordinal)
    conflicts = Tolerated()
    for conflict in row.conflicts or ():
        conflicts += conflict_counts(
            TableName(conflict["schema"], conflict["table"]), conflict["missing"], conflict["duplicate"]
        )
    return ReplicationOverview(
        ReplicationState(pair, Status(row.status), position, row.delivered_at, row.update_id),
        # The log may have been begun anew behind it.
        max(row.holdback, 0),
        row.waiting_s or 0.0,
        row.unpublished_s,
        row.draining,
        row.publishing,
        row.quiet_s or 0.0,
        Lease.from_row(row.drain),
        Lease.from_row(row.publisher),
        Outcome.from_row(row.drain),
        Outcome.from_row(row.publisher),
        dict(_holds(pair, row.holds or (), row.question)),
        conflicts,
        {TableName(values["schema"], values["table"]): _skipped_table(values) for values in row.skipped or ()},
        BlockingTransaction.from_json(row.stuck) if row.stuck else None,
        from_row(_JsonRow(row.carried)) if row.carried else None,
        _update(row.update) if row.update else None,
        ComparisonProgress.from_values(row.comparing) if row.comparing else None,
        row.compared,
        row.different,
        "" if row.compared is None else scope(row.ranges, row.percent, row.since),
        row.differing or {},
        row.rejected,
        row.batch_s,
        [HistoryPoint(*moment) for moment in row.recent or ()],
    )


class _JsonRow:
    """A row that travelled as JSON, in which moments are texts."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            moment = name in _MOMENTS and value is not None
            setattr(self, name, datetime.fromisoformat(value) if moment else value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


_MOMENTS = ("since", "started_at", "ended_at")


def _holds(
    pair: Pair, rows: Iterable[Mapping[str, Any]], waiting: Mapping[str, Any] | None
) -> Iterable[tuple[Hold, HoldNote]]:
    for hold in map(_JsonRow, rows):
        yield Hold(hold.kind), HoldNote(Hold(hold.kind), hold.actor, hold.reason, hold.since)
    if waiting:
        yield Hold.APPROVAL, approval(pair, _JsonRow(waiting))


def _skipped_table(values: Mapping[str, Any]) -> SkippedTable:
    row = _JsonRow(values)
    return SkippedTable(row.actor, row.since, row.changes)


def _update(values: Mapping[str, Any]) -> LastUpdate:
    row = _JsonRow(values)
    progress = LoadProgress.from_values(values)
    return LastUpdate(row.id, UpdateState(row.state), row.run, row.started_at, row.ended_at, progress)
