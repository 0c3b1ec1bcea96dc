"""Signals for those who watch over many systems: the figures of the status model by name, for Prometheus and for
Airflow's own metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from sluice.context import Context
from sluice.model.kept_log import KeptLog
from sluice.model.names import Pair
from sluice.monitor.run_outcome import RunOutcome
from sluice.monitor.status import Beside, ReplicationStatus, brief_status
from sluice.state.condition import ReplicationCondition
from sluice.state.dispatcher import Dispatcher
from sluice.state.replication import Status
from sluice.store import publishers, rejected_changes
from sluice.store.publishers import PublisherState
from sluice.store.replication_overview import overviews


class Meter(StrEnum):
    """A gauge goes up and down; a counter only up, until something begins anew."""

    GAUGE = "gauge"
    COUNTER = "counter"


@dataclass(frozen=True)
class Signal:
    """A figure, and its meaning in a sentence."""

    name: str
    kind: Meter
    help: str


STATUS = Signal("sluice_replication_status", Meter.GAUGE, "1 for the status that the replication has, 0 for the others")
CONDITION = Signal("sluice_replication_condition", Meter.GAUGE, "1 for the condition that it is in, 0 for the others")
WELL = Signal(
    "sluice_replication_well", Meter.GAUGE, "1 if it is NORMAL, active, reachable, complete, equal and not late"
)
ACTIVE = Signal("sluice_dispatcher_active", Meter.GAUGE, "1 if changes are delivered, 0 on standby")
ANSWERS = Signal("sluice_slave_answers", Meter.GAUGE, "1 if the slave's server answered at the last look")
LAG = Signal("sluice_lag_seconds", Meter.GAUGE, "how far the slave is behind its master")
HOLDBACK = Signal("sluice_holdback_transactions", Meter.GAUGE, "transactions in the change log that the slave lacks")
DELIVERED = Signal("sluice_delivered_transactions_total", Meter.COUNTER, "transactions that the slave made durable")
BATCH = Signal("sluice_batch_seconds", Meter.GAUGE, "how long the last batch of the drain took")
CONFLICTS = Signal("sluice_row_conflicts_total", Meter.COUNTER, "rows that were not as expected, since it was filled")
REJECTED = Signal("sluice_rejected_changes", Meter.GAUGE, "changes that the slave did not carry out, which are kept")
DIFFERENT = Signal("sluice_rows_different", Meter.GAUGE, "rows that are known to differ from the master's")
PUBLISHED = Signal("sluice_published_transactions_total", Meter.COUNTER, "transactions published into the change log")
CHANGES = Signal("sluice_published_changes_total", Meter.COUNTER, "changes of rows published into the change log")
PUBLISHER_LAG = Signal("sluice_publisher_lag_seconds", Meter.GAUGE, "for so long changes may wait to be published")
SWEEP = Signal("sluice_sweep_seconds", Meter.GAUGE, "how long the last sweep took that published something")
QUEUED = Signal("sluice_queued_changes", Meter.GAUGE, "changes that wait to be published, counted up to 100,000")
FAILING = Signal(
    "sluice_publisher_failing", Meter.GAUGE, "1 if the publisher's last run failed, and none went on since"
)
SUCCESS = Signal("sluice_publisher_success_timestamp_seconds", Meter.GAUGE, "when the publisher went on last")
DRAIN_FAILING = Signal("sluice_drain_failing", Meter.GAUGE, "1 if the last drain failed, and none went on since")
DRAIN_SUCCESS = Signal("sluice_drain_success_timestamp_seconds", Meter.GAUGE, "when a drain went on last")
LOG_BYTES = Signal("sluice_change_log_bytes", Meter.GAUGE, "size of the segments that are kept")
KEPT_LOG = Signal("sluice_kept_log_bytes", Meter.GAUGE, "of its own log, kept by the master for a slot")
LEFT_LOG = Signal("sluice_kept_log_left_bytes", Meter.GAUGE, "so much may be written until the master gives that up")
SIGNALS: tuple[Signal, ...] = (
    STATUS,
    CONDITION,
    WELL,
    ACTIVE,
    ANSWERS,
    LAG,
    HOLDBACK,
    DELIVERED,
    BATCH,
    CONFLICTS,
    REJECTED,
    DIFFERENT,
    PUBLISHED,
    CHANGES,
    PUBLISHER_LAG,
    SWEEP,
    QUEUED,
    FAILING,
    SUCCESS,
    DRAIN_FAILING,
    DRAIN_SUCCESS,
    LOG_BYTES,
    KEPT_LOG,
    LEFT_LOG,
)


@dataclass(frozen=True)
class Sample:
    """The value of a signal, of the source or the replication that its labels name."""

    signal: Signal
    labels: Mapping[str, str]
    value: float


def replication_samples(status: ReplicationStatus, rejected: int, *, looked: bool) -> Iterator[Sample]:
    """The figures of a replication.

    Args:
        rejected: changes that are kept for it.
        looked: somebody has looked whether its slave answers.
    """
    labels = {"source": status.source, "slave": status.slave}
    for name in Status:
        yield Sample(STATUS, {**labels, "status": name}, float(status.status == name))
    for condition in ReplicationCondition:
        yield Sample(CONDITION, {**labels, "condition": condition}, float(status.condition is condition))
    figures = {
        WELL: status.well,
        ACTIVE: status.dispatcher == Dispatcher.ACTIVE,
        ANSWERS: status.answers if looked else None,
        LAG: status.lag_s,
        HOLDBACK: status.holdback,
        DELIVERED: int(status.position.partition("/")[2]),
        BATCH: status.batch_s,
        DRAIN_FAILING: status.drain.fails,
        DRAIN_SUCCESS: status.drain.succeeded_s,
        CONFLICTS: status.tolerated,
        REJECTED: rejected,
        DIFFERENT: None if status.compared is None and not any(status.differing.values()) else status.differed,
    }
    yield from _samples(labels, figures)


def source_samples(publisher: PublisherState) -> Iterator[Sample]:
    """The figures of a source."""
    figures = {
        PUBLISHED: publisher.transactions,
        CHANGES: publisher.changes,
        PUBLISHER_LAG: publisher.lag_s,
        SWEEP: publisher.sweep_s,
        QUEUED: publisher.queued,
        FAILING: publisher.outcome.fails,
        SUCCESS: RunOutcome.from_store(publisher.outcome).succeeded_s,
        LOG_BYTES: publisher.log_bytes,
    }
    yield from _samples({"source": publisher.source}, figures)


def kept_log_samples(source: str, kept: KeptLog) -> Iterator[Sample]:
    """The part of its own log that a source's server keeps."""
    figures = {KEPT_LOG: kept.bytes, LEFT_LOG: kept.left_bytes}
    yield from _samples({"source": source}, figures)


def _samples(labels: Mapping[str, str], figures: Mapping[Signal, float | None]) -> Iterator[Sample]:
    yield from (Sample(signal, labels, float(value)) for signal, value in figures.items() if value is not None)


def gather(context: Context, rows: Iterable[ReplicationStatus], looked: Callable[[Pair], bool]) -> list[Sample]:
    """The figures of these replications, and of all sources.

    Args:
        looked: whether somebody has looked if a slave answers.
    """
    rows, kept = list(rows), rejected_changes.counts(context.store)
    samples = [
        sample for row in rows for sample in replication_samples(row, kept.get(row.pair, 0), looked=looked(row.pair))
    ]
    publishers_by_source = publishers.states(context.store, context.config.sources)
    logs = {row.source: row.kept_log for row in rows if row.kept_log}
    samples += [sample for source, log in logs.items() for sample in kept_log_samples(source, log)]
    return [*samples, *(sample for publisher in publishers_by_source.values() for sample in source_samples(publisher))]


def drain_samples(context: Context, pair: Pair) -> list[Sample]:
    """The figures of one replication that a drain knows.

    Its condition is not among them: that depends on the source and on Airflow, where a drain does not look.
    """
    (overview,) = overviews(context.store, [pair]).values()
    kept = rejected_changes.counts(context.store, pair)
    samples = replication_samples(brief_status(context, overview, Beside()), kept.get(pair, 0), looked=False)
    return [sample for sample in samples if sample.signal not in (CONDITION, WELL)]


def publisher_samples(context: Context, source: str) -> list[Sample]:
    """The figures of one source."""
    return list(source_samples(publishers.states(context.store, [source])[source]))
