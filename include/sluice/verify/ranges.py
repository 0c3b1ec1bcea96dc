"""Cuts comparisons of large tables into ranges of keys for several tasks, and joins what these find."""

from __future__ import annotations

from collections.abc import Iterable

from sluice.vendors.protocol.compare import Comparison
from sluice.vendors.registry import vendor
from sluice.verify.difference import Bounds, Difference, joined

# The most ranges of a table; and if the master rests between them.
_MOST, _FINE = 16, 256


def cut(jobs: list[Comparison], tasks: int, *, fine: bool = False) -> list[Comparison]:
    """Comparisons of one slave, of which those of large tables are cut, where its kind of database can have that.

    Args:
        tasks: how many work at a time.
        fine: into more ranges than so many tasks need.

    Raises:
        SluiceError: one of the databases cannot be read.
    """
    cut_by_vendor = vendor(jobs[0].replica.vendor).cut if jobs else None
    return cut_by_vendor(jobs, _FINE if fine else min(_MOST, 2 * tasks)) if cut_by_vendor else jobs


def by_table(found: Iterable[tuple[Comparison, Difference]]) -> list[tuple[Comparison, Difference]]:
    """One comparison for each table of each slave, with what all of its ranges found."""
    tables: dict[tuple[str, object], list[tuple[Comparison, Difference]]] = {}
    for job, difference in found:
        tables.setdefault((job.slave, job.view.master.name), []).append((job, difference))
    return [
        some[0] if len(some) == 1 else (some[0][0], joined(((_bounds(job), one) for job, one in some), _most(some)))
        for some in tables.values()
    ]


def _most(some: list[tuple[Comparison, Difference]]) -> int:
    return some[0][0].keeping.most


def _bounds(job: Comparison) -> Bounds:
    if job.within is None:
        return None, None
    low, high = job.within.low, job.within.high
    return None if low is None else (low,), None if high is None else (high,)
