"""Charts of a replication, as lines of an SVG: their places are computed here, and nothing is drawn by the browser.

A line ends where nothing was recorded: no publisher was at work then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from sluice.model.history import HistoryPoint

WIDTH, HEIGHT = 600, 100
# Of lines that stand in a row of the list.
SPARK_WIDTH, SPARK_HEIGHT = 120, 32
RECENT_S = 3600.0
# So many steps without a word are a gap.
_GAP = 3.5
# Rounded ends of a scale of seconds, up to a day.
_SECONDS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400)
_DAY = 86_400

Point = tuple[float, float]


class Span(StrEnum):
    """The time that charts show."""

    HOURS = "6h"
    DAY = "1d"
    WEEK = "7d"
    MONTH = "30d"

    @property
    def seconds(self) -> int:
        """Its length."""
        return _SPANS[self][0]

    @property
    def step_s(self) -> int:
        """The time between two of its points."""
        return _SPANS[self][1]

    @property
    def label(self) -> str:
        """Its name."""
        return _SPANS[self][2]


_SPANS = {
    Span.HOURS: (6 * 3600, 60, "6 hours"),
    Span.DAY: (_DAY, 300, "24 hours"),
    Span.WEEK: (7 * _DAY, 3600, "7 days"),
    Span.MONTH: (30 * _DAY, 3600, "30 days"),
}


@dataclass(frozen=True)
class Line:
    """A piece without gaps, as the points of an SVG's polyline, and of the area below it."""

    points: str
    area: str


@dataclass(frozen=True)
class Chart:
    """A chart.

    Attributes:
        seconds: its values are time spans.
        top: the upper end of the scale.
        most, last: of its values; None if there is none.
        gaps: left ends and widths of the spans without a record.
    """

    title: str
    unit: str
    seconds: bool
    top: float
    most: float | None
    last: float | None
    lines: Sequence[Line]
    gaps: Sequence[tuple[str, str]]


def charts(moments: Sequence[HistoryPoint], live: HistoryPoint, span: Span) -> list[Chart]:
    """Lag, rate and holdback.

    Args:
        live: how the replication is now, where the charts end.
    """
    now, begin = live.at, live.at - span.seconds
    shown = [*moments, live]

    def chart(title: str, unit: str, points: list[Point], *, seconds: bool = False) -> Chart:
        values = [value for _, value in points]
        top = _scale_end(max(values, default=0.0), _SECONDS if seconds else ())
        pieces = list(_pieces(points, span.step_s * _GAP))
        lines = [_line(piece, begin, now, top) for piece in pieces]
        gaps = _gaps(pieces, begin, now, span.step_s * _GAP)
        return Chart(title, unit, seconds, top, max(values, default=None), values[-1] if values else None, lines, gaps)

    return [
        chart("Lag", "", [(moment.at, moment.lag_s) for moment in shown], seconds=True),
        chart("Rate", "transactions/s", rates(moments, span.step_s * _GAP)),
        chart("Holdback", "transactions", [(moment.at, float(moment.holdback)) for moment in shown]),
    ]


def rates(moments: Sequence[HistoryPoint], gap_s: float) -> list[Point]:
    """Transactions a second, from one moment to the next; none where an initial update set the ordinal back."""
    return [
        (after.at, max(after.ordinal - before.ordinal, 0) / (after.at - before.at))
        for before, after in pairwise(moments)
        if 0 < after.at - before.at <= gap_s
    ]


@dataclass(frozen=True)
class Sparks:
    """The last hour of a replication in a row of the list: lines of its lag and its rate, and the most of each."""

    lag: Sequence[str]
    rate: Sequence[str]
    most_lag_s: float
    most_rate: float


def sparks(moments: Sequence[HistoryPoint], now: float) -> Sparks | None:
    """None if there is nothing to show."""
    if len(moments) < 2:
        return None
    lags, speeds = [(moment.at, moment.lag_s) for moment in moments], rates(moments, 60 * _GAP)
    most_lag = max(value for _, value in lags)
    most_rate = max((value for _, value in speeds), default=0.0)

    def lines(points: list[Point], most: float) -> list[str]:
        pieces = _pieces(points, 60 * _GAP)
        across, up = SPARK_WIDTH / RECENT_S, SPARK_HEIGHT / (most or 1.0)
        begin = now - RECENT_S
        return [
            " ".join(f"{(at - begin) * across:.0f},{SPARK_HEIGHT - value * up:.0f}" for at, value in _bends(piece))
            for piece in pieces
        ]

    # A second of lag is none.
    return Sparks(lines(lags, max(most_lag, 1.0)), lines(speeds, most_rate), most_lag, most_rate)


def _bends(piece: Sequence[Point]) -> list[Point]:
    """Points without those in the middle of a level part: where nothing happens two are enough."""
    values = [value for _, value in piece]
    last = len(piece) - 1
    return [
        point
        for number, point in enumerate(piece)
        if number in (0, last) or not values[number - 1] == point[1] == values[number + 1]
    ]


def _pieces(points: Iterable[Point], gap_s: float) -> Iterator[list[Point]]:
    """Points in pieces, cut where too much time lies between two of them."""
    piece: list[Point] = []
    for point in points:
        if piece and point[0] - piece[-1][0] > gap_s:
            yield piece
            piece = []
        piece.append(point)
    if piece:
        yield piece


def _gaps(pieces: Sequence[Sequence[Point]], begin: float, now: float, gap_s: float) -> list[tuple[str, str]]:
    if not pieces:
        return []
    ends = [begin, *(moment for piece in pieces for moment in (piece[0][0], piece[-1][0])), now]
    across = WIDTH / (now - begin)
    return [
        (f"{(left - begin) * across:.1f}", f"{(right - left) * across:.1f}")
        for left, right in zip(ends[::2], ends[1::2], strict=True)
        if right - left > gap_s
    ]


def _line(piece: Sequence[Point], begin: float, now: float, top: float) -> Line:
    across, up = WIDTH / (now - begin), HEIGHT / top

    def place(point: Point) -> str:
        return f"{max((point[0] - begin) * across, 0):.1f},{HEIGHT - point[1] * up:.1f}"

    # One point alone is a dot.
    points = " ".join(map(place, piece if len(piece) > 1 else [*piece, *piece]))
    return Line(points, f"{place((piece[0][0], 0.0))} {points} {place((piece[-1][0], 0.0))}")


def _scale_end(most: float, ends: Sequence[int]) -> float:
    """The upper end of a scale: the next of these, or else 1, 2 or 5 with zeros."""
    for end in ends:
        if most <= end:
            return float(end)
    size = 10.0 ** max(len(str(int(most))) - 1, 0)
    return next(size * factor for factor in (1, 2, 5, 10) if most <= size * factor)
