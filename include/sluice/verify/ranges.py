"""Cuts comparisons of large tables into ranges of keys for several tasks, and joins what these find."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sluice.errors import SluiceError
from sluice.model.key_range import KeyInterval
from sluice.model.names import TableName
from sluice.vendors.protocol.compare import Comparison, not_by_given_keys, not_by_keys
from sluice.vendors.registry import vendor
from sluice.verify.difference import Bounds, Difference, join

# The most ranges of a table; and if the master rests between them.
_MOST, _FINE = 16, 256


def parse(ranges: Sequence[str]) -> tuple[KeyInterval, ...]:
    """The ranges of keys that are named. Raises SluiceError SLC-640, they have another form."""
    try:
        return tuple(KeyInterval.parse(text) for text in ranges)
    except ValueError as error:
        raise _not_comparable(ranges, str(error)) from None


def _not_comparable(ranges: Sequence[object], why: str) -> SluiceError:
    return SluiceError(
        640,
        f"{'; '.join(map(str, ranges))} cannot be compared: {why}",
        "nothing was compared; trigger verify without `sample` and `at_most`, and with `ranges` that are written like "
        "this: public.legs: 2013, 'UA' .. 2013, 'WN'",
    )


def expect_alone(ranges: Sequence[KeyInterval], tables: Collection[TableName], *, sampled: bool) -> None:
    """See that ranges say which rows are compared, and nothing else does.

    Raises:
        SluiceError: SLC-640, a sample was chosen as well, or one of their tables as a whole.
    """
    if ranges and sampled:
        raise _not_comparable(ranges, "a sample is chosen as well")
    if whole := sorted({key_range.table for key_range in ranges} & set(tables)):
        raise _not_comparable(ranges, f"{', '.join(map(str, whole))} is named in `tables` as well")


def cut(jobs: list[Comparison], tasks: int, *, fine: bool = False) -> list[Comparison]:
    """Comparisons of one slave, of which those of large tables are cut, where its kind of database can have that.

    Args:
        tasks: how many work at a time.
        fine: into more ranges than so many tasks need.

    Raises:
        SluiceError: one of the databases cannot be read; SLC-622, SLC-640, ranges of keys cannot be compared.
    """
    by_keys = next((job for job in jobs if job.keys), None)
    cut_by_vendor = vendor(jobs[0].replica.vendor).cut if jobs else None
    if by_keys and not cut_by_vendor:
        raise not_by_keys(by_keys, "its kind of database has no such way")
    if (given := [job for job in jobs if job.only]) and not cut_by_vendor:
        why = "its kind of database cannot be asked for keys"
        raise not_by_given_keys(given[0].slave, {job.view.master.name: why for job in given})
    return cut_by_vendor(jobs, _FINE if fine else min(_MOST, 2 * tasks)) if cut_by_vendor else jobs


def by_table(differences: Iterable[tuple[Comparison, Difference]]) -> list[tuple[Comparison, Difference]]:
    """One comparison for each table of each slave, with what all of its ranges found."""
    tables: dict[tuple[str, object], list[tuple[Comparison, Difference]]] = {}
    for job, difference in differences:
        tables.setdefault((job.slave, job.view.master.name), []).append((job, difference))
    return [
        some[0] if len(some) == 1 else (some[0][0], join(((_bounds(job), part) for job, part in some), _most(some)))
        for some in tables.values()
    ]


def _most(some: list[tuple[Comparison, Difference]]) -> int:
    return some[0][0].keeping.most


def _bounds(job: Comparison) -> Bounds:
    if job.within is None:
        return None, None
    low, high = job.within.low, job.within.high
    return None if low is None else (low,), None if high is None else (high,)
