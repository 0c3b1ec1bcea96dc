"""How many parts of a table were compared at a point: a comparison that broke off goes on at another one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sluice.model.position import Position


@dataclass(frozen=True)
class PartsAt:
    """Parts that were compared at one point.

    Attributes:
        parts: the table, or ranges of its keys.
        at: when the last of them was, as ISO 8601; empty if some were by the try that made the report.
    """

    position: Position
    parts: int
    at: str = ""


def latest(moments: Sequence[str]) -> str:
    """The last of some moments; empty if one of them is."""
    return "" if "" in moments else max(moments)


def summed(tables: Iterable[Sequence[PartsAt]]) -> list[PartsAt]:
    """The parts of several tables, by their points, the oldest first."""
    found: dict[Position, PartsAt] = {}
    for one in (each for table in tables for each in table):
        known = found.get(one.position)
        found[one.position] = (
            replace(one, parts=one.parts + known.parts, at=latest((one.at, known.at))) if known else one
        )
    return [found[position] for position in sorted(found)]


def statement(tables: Iterable[Sequence[PartsAt]]) -> str:
    """The points of parts that an earlier try has compared, as people read it; empty if there are none."""
    points = summed(tables)
    every = sum(one.parts for one in points)
    earlier = [f"{one.parts:,} of {every:,} parts as of position {one.position}" for one in points if one.at]
    return f"{', '.join(earlier)}, where an earlier try had compared them" if earlier else ""
