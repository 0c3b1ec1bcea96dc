"""The parts of a table by the point at which they were compared: a comparison that broke off goes on at another one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sluice.model.position import Position


@dataclass(frozen=True)
class ComparedPoint:
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


def add_up(tables: Iterable[Sequence[ComparedPoint]]) -> list[ComparedPoint]:
    """The parts of several tables, by their points, the oldest first."""
    points: dict[Position, ComparedPoint] = {}
    for point in (each for table in tables for each in table):
        known = points.get(point.position)
        points[point.position] = (
            replace(point, parts=point.parts + known.parts, at=latest((point.at, known.at))) if known else point
        )
    return [points[position] for position in sorted(points)]


def statement(tables: Iterable[Sequence[ComparedPoint]]) -> str:
    """The points of parts that an earlier try has compared, as people read it; empty if there are none."""
    points = add_up(tables)
    every = sum(point.parts for point in points)
    earlier = [f"{point.parts:,} of {every:,} parts as of position {point.position}" for point in points if point.at]
    return f"{', '.join(earlier)}, where an earlier try had compared them" if earlier else ""
