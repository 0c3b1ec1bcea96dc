"""Reports the progress of a comparison in the control store, every few seconds while parts of it end."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from sluice.changelog.points import Point
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.model.names import Pair
from sluice.model.progress import ComparisonProgress
from sluice.store import comparison_progress, updates
from sluice.vendors.protocol.compare import Comparison
from sluice.verify.checkpoints import Parts
from sluice.verify.difference import Difference
from sluice.verify.rounds import Keep

SECONDS = 3.0


def keep_and_report(context: Context, source: str, point: Point, jobs: Sequence[Comparison], parts: Parts) -> Keep:
    """Keep the outcomes of comparisons, and report how many of these there are.

    Args:
        parts: keeps the outcomes, and has the ones of an earlier try.
    """
    store, run, earlier = context.store, updates.own_run(), parts.earlier_rows()
    planned = _planned_rows(context, source, jobs, earlier)
    first, begun, reported = (len(earlier), sum(rows for _, rows in earlier)), time.monotonic(), float("-inf")
    all_parts, (done, rows) = len(earlier) + len(jobs), first

    def report() -> None:
        nonlocal reported
        reported = time.monotonic()
        progress = ComparisonProgress.at(first, (done, rows), all_parts, planned, reported - begun)
        # A report is worth no failure.
        with suppress(SluiceError):
            comparison_progress.report(store, point.id, run, progress)

    def keep(job: Comparison, difference: Difference) -> None:
        nonlocal done, rows
        parts.keep(job, difference)
        done, rows = done + 1, rows + difference.compared
        if done == all_parts or time.monotonic() - reported >= SECONDS:
            report()

    report()
    return keep


def _planned_rows(
    context: Context, source: str, jobs: Sequence[Comparison], earlier: Sequence[tuple[Comparison, int]]
) -> int | None:
    """About how many rows a comparison is of; None if it is not known of each table.

    Args:
        jobs: what is left to compare; of a table some parts may be in `earlier`, which was compared with so many rows.
    """
    if any(job.least is not None or job.keys or job.only for job in jobs):
        return None
    counts: dict[str, Mapping[str, int]] = {}
    with suppress(SluiceError):
        for slave in {job.slave for job in jobs}:
            counts[slave] = comparison_progress.expected_rows(context.store, Pair(source, slave))
    tables = {_table(job): job.sample.percent for job in jobs}
    known = [counts.get(slave, {}).get(table) for slave, table in tables]
    whole = sum(rows for job, rows in earlier if _table(job) not in tables)
    shares = zip(known, tables.values(), strict=True)
    return None if None in known else whole + round(sum((rows or 0) * percent / 100 for rows, percent in shares))


def _table(job: Comparison) -> tuple[str, str]:
    return job.slave, str(job.view.master.name)
