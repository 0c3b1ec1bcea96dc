"""Compares in rounds at one point: what was compared stays, what broke off is tried again, and a master may rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from sluice.context import Context
from sluice.errors import SluiceError, TransientError
from sluice.log import event
from sluice.throttle import Throttle, active
from sluice.vendors.protocol.compare import Comparison, GivesWay
from sluice.vendors.registry import vendor
from sluice.verify.difference import Difference

# What each of these comparisons found, or why it could not be made; in their order, as soon as it is known.
CompareAll = Callable[[list[Comparison]], Iterable[Difference | SluiceError]]
Keep = Callable[[Comparison, Difference], None]

# Before a comparison is tried again: once, since if the snapshots are gone, only another point helps.
_PAUSE_S = 1.0
_LOOK_S = 1.0


@dataclass(frozen=True)
class Pace:
    """The speed at which a master is read.

    Attributes:
        at_once: comparisons of a round; None: there is one round of all.
        rows_per_s: of all rounds together.
        why_not: why no round begins now; empty if one may.
    """

    at_once: int | None = None
    rows_per_s: float | None = None
    why_not: Callable[[], str] = lambda: ""

    @classmethod
    def from_settings(cls, context: Context, source: str) -> Pace:
        """The pace that a source's settings allow. Raises SluiceError SLC-236, its role may not know who is active."""
        settings = context.config.source(source).verification
        if settings.max_active is None and settings.rows_per_s is None:
            return cls()
        if settings.max_active is not None:
            active(context, source)
        throttle = Throttle(context, source, settings.max_active)
        return cls(context.config.bulk_tasks, settings.rows_per_s, throttle.why_not)

    @property
    def may_rest(self) -> bool:
        """Whether there may be pauses."""
        return self.at_once is not None

    def wait(self, rows: int, begun: float) -> None:
        """Wait until the next round may begin.

        Args:
            rows: that were compared.
            begun: when the first round did, by the monotonic clock.
        """
        if self.rows_per_s:
            time.sleep(max(0.0, begun + rows / self.rows_per_s - time.monotonic()))
        reason_before = ""
        while reason := self.why_not():
            if reason != reason_before:
                event("waits", why=reason)
                reason_before = reason
            time.sleep(_LOOK_S)


def compare_in_rounds(
    jobs: list[Comparison],
    compare_all: CompareAll,
    pace: Pace,
    failed_slaves: dict[str, SluiceError],
    keep: Keep = lambda _, __: None,
) -> list[tuple[Comparison, Difference]]:
    """The differences; a slave or a table that cannot be read does not stop the comparison of other slaves (R8).

    Args:
        failed_slaves: slaves that cannot be compared, and why; those are added that turn out to be so.
        keep: is told of each comparison as soon as it is made.
    """
    done: dict[int, Difference] = {}
    failed: dict[int, SluiceError] = {}
    waiting, begun = list(range(len(jobs))), time.monotonic()
    while waiting:
        size = pace.at_once or len(waiting)
        batch, waiting = waiting[:size], waiting[size:]
        pace.wait(sum(difference.compared for difference in done.values()), begun)
        again = []
        for number, outcome in zip(batch, _outcomes(compare_all, [jobs[number] for number in batch]), strict=True):
            slave = jobs[number].slave
            if isinstance(outcome, Difference):
                done[number] = outcome
                keep(jobs[number], outcome)
            elif isinstance(outcome, TransientError) and number not in failed:
                failed[number] = outcome
                again.append(number)
                event("tried again", slave=slave, table=jobs[number].view.master.name, why=outcome.message)
            elif slave not in failed_slaves or _outweighs(outcome, failed_slaves[slave]):
                # The first error says more: the snapshot may be gone since.
                failed_slaves[slave] = failed.get(number, outcome) if isinstance(outcome, TransientError) else outcome
        waiting = [number for number in (*waiting, *again) if jobs[number].slave not in failed_slaves]
        if again or waiting:
            event("compared", done=len(done), of=len(jobs))
        if again and waiting:
            time.sleep(_PAUSE_S)
    for slave in {job.slave for job in jobs} & failed_slaves.keys():
        compared = sum(jobs[number].slave == slave for number in done)
        event("broke off", slave=slave, done=compared, of=sum(job.slave == slave for job in jobs))
    return [(job, done[number]) for number, job in enumerate(jobs) if job.slave not in failed_slaves]


def give_way_to_others(context: Context, compare_all: CompareAll, after_s: float | None) -> CompareAll:
    """Compare, but not for so long that a statement of others waits for more than this time."""

    def compare(jobs: list[Comparison]) -> Iterator[Difference | SluiceError]:
        with ExitStack() as stack:
            yields: dict[tuple[str, str], GivesWay] = {}
            if after_s and jobs:
                # A session that reads at a point bears the name of the master's snapshot.
                snapshot_id = jobs[0].master.snapshot_id
                sides = {(side.vendor, side.connection) for job in jobs for side in (job.master, job.replica)}
                for name, connection in sides:
                    if give_way := vendor(name).giving_way:
                        yields[name, connection] = stack.enter_context(
                            give_way(context.connection(connection), snapshot_id, after_s)
                        )
            for job, outcome in zip(jobs, compare_all(jobs), strict=True):
                yield _explain(job, outcome, yields)

    return compare


def _explain(
    job: Comparison, outcome: Difference | SluiceError, yields: Mapping[tuple[str, str], GivesWay]
) -> Difference | SluiceError:
    """The outcome. If we ended the session ourselves, our reason for it."""
    if not isinstance(outcome, TransientError):
        return outcome
    sides = [yields.get((side.vendor, side.connection)) for side in (job.master, job.replica)]
    return next((side.reason for side in sides if side and side.reason), outcome)


def _outcomes(compare_all: CompareAll, jobs: list[Comparison]) -> Iterator[Difference | SluiceError]:
    remaining = len(jobs)
    try:
        for outcome in compare_all(jobs):
            remaining -= 1
            yield outcome
    except SluiceError as error:
        yield from [error] * remaining


def _outweighs(error: SluiceError, before: SluiceError) -> bool:
    """Whether an error is worth more than one before it: it is terminal, and that was not."""
    return isinstance(before, TransientError) and not isinstance(error, TransientError)
