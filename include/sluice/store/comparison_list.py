"""The comparisons of a source, the newest first, as lists show them: one of a slave is a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Double, func, select, tuple_

from sluice.model.row_difference import KINDS
from sluice.model.sample_bound import SampleBound, statement
from sluice.store.engine import Store
from sluice.store.tables import comparison

PAGE = 25


@dataclass(frozen=True)
class ComparisonTotals:
    """A comparison of a slave, all its tables together.

    Attributes:
        report: its number, which is also its point's.
        percent: the share of keys that was compared, of the table of which it was least.
        bound: of the rows that differ, by samples; of the table with a key of which they say least.
        unknown: sampled tables without a key, which have no bound.
        ranges: of keys that alone were compared; 0 if all were.
        since: of some tables only rows changed since this position were compared; empty if all were.
        keys: how many keys of such rows the change log had.
        more: rows that differ and were not kept.
    """

    report: int
    slave: str
    at: datetime
    tables: int
    compared: int
    different: int
    missing: int
    extra: int
    changed: int
    more: int
    percent: float
    bound: SampleBound | None
    unknown: int
    ranges: int
    since: str
    keys: int

    @property
    def sure(self) -> str:
        """The samples' statement as people read it; empty if all rows were compared."""
        return statement(self.bound, self.unknown)


def page(
    store: Store, source: str, slave: str = "", before: tuple[int, str] | None = None, most: int = PAGE
) -> tuple[Sequence[ComparisonTotals], tuple[int, str] | None]:
    """The newest comparisons of a source, and the one before which older ones are, if there are any.

    Args:
        slave: of this one alone; of all if it is empty.
        before: older than this one; of the same number, those of slaves whose names come before.
    """
    which, body = (comparison.c.point, comparison.c.slave), comparison.c.body
    percent = body["percent"].astext.cast(Double)
    wanted = select(
        comparison.c.point.label("report"),
        comparison.c.slave,
        func.max(comparison.c.at).label("at"),
        func.count().label("tables"),
        *(_sum(comparison.c[name]).label(name) for name in ("compared", "different")),
        *(_sum(body["counts"][name].astext.cast(BigInteger)).label(name) for name in (*KINDS, "more")),
        func.coalesce(func.min(percent), 100).label("percent"),
        func.count().filter(percent < 100, func.jsonb_array_length(body["key"]) == 0).label("unknown"),
        _sum(func.jsonb_array_length(body["within"])).label("ranges"),
        func.coalesce(func.max(body["only"]["since"].astext), "").label("since"),
        _sum(body["only"]["keys"].astext.cast(BigInteger)).label("keys"),
        *(func.max(body["bound"][name].astext.cast(Double)).label(name) for name in ("confidence", "below")),
    ).where(comparison.c.source == source)
    if slave:
        wanted = wanted.where(comparison.c.slave == slave)
    if before is not None:
        wanted = wanted.where(tuple_(*which) < before)
    # Along an index, so that what is older costs nothing.
    wanted = wanted.group_by(*which).order_by(*(column.desc() for column in which)).limit(most + 1)
    with store.begin() as connection:
        rows = connection.execute(wanted).all()
    comparisons = [_totals(**row._mapping) for row in rows[:most]]
    return comparisons, (comparisons[-1].report, comparisons[-1].slave) if len(rows) > most else None


def _totals(confidence: float | None, below: float | None, **values: Any) -> ComparisonTotals:
    bound = None if confidence is None or below is None else SampleBound(confidence, below)
    return ComparisonTotals(**values, bound=bound)


def _sum(number: ColumnElement[int]) -> ColumnElement[int]:
    return func.coalesce(func.sum(number), 0).cast(BigInteger)
