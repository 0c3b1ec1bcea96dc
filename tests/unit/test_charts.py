"""Lines of charts: where their points are, and where nothing is known."""

from __future__ import annotations

import pytest

from sluice.model.history import HistoryPoint
from sluice.pages import charts
from sluice.pages.charts import Span

NOW = 1_000_000_000.0


def moments(*given: tuple[float, float, int, int]) -> list[HistoryPoint]:
    return [HistoryPoint(NOW - 60 * minutes, *rest) for minutes, *rest in given]


def test_a_chart_has_its_scale_its_line_and_what_is_now():
    found = moments((180, 6.0, 4, 100), (179, 2.0, 2, 160), (178, 0.0, 0, 160))
    lag, rate, holdback = charts.charts(found, HistoryPoint(NOW, 0.0, 0, 160), Span.HOURS)
    assert (lag.top, lag.most, lag.last) == (10, 6, 0)
    assert lag.lines[0].points == "300.0,40.0 301.7,80.0 303.3,100.0"
    assert lag.lines[0].area == "300.0,100.0 300.0,40.0 301.7,80.0 303.3,100.0 303.3,100.0"
    # Now is apart from it, and a dot.
    assert lag.lines[1].points == "600.0,100.0 600.0,100.0"
    assert [(rate.most, rate.last), (holdback.most, holdback.top)] == [(1.0, 0.0), (4, 5)]


def test_a_line_ends_where_nobody_wrote_anything():
    lag, _, _ = charts.charts(moments((60, 1.0, 0, 1), (59, 1.0, 0, 1)), HistoryPoint(NOW, 0.0, 0, 1), Span.HOURS)
    assert lag.gaps == [("0.0", "500.0"), ("501.7", "98.3")]
    alone, _, _ = charts.charts([], HistoryPoint(NOW, 0.0, 0, 1), Span.MONTH)
    assert (alone.gaps, len(alone.lines), alone.top) == ([("0.0", "600.0")], 1, 1)


def test_an_initial_update_is_no_rate():
    assert charts.rates(moments((3, 0.0, 0, 500), (2, 0.0, 0, 20), (1, 0.0, 0, 80)), 210) == [
        (NOW - 120, 0),
        (NOW - 60, 1.0),
    ]


@pytest.mark.parametrize(("most", "top"), [(0, 1), (0.4, 1), (3, 5), (50, 50), (51, 100), (1_234, 2_000), (9_999, 1e4)])
def test_a_scale_ends_at_a_round_number(most, top):
    _, _, holdback = charts.charts([], HistoryPoint(NOW, 0.0, most, 1), Span.HOURS)
    assert holdback.top == top


def test_a_row_has_the_last_hour_and_nothing_before_there_are_two_minutes():
    found = moments((60, 30.0, 0, 0), (59, 0.0, 0, 60))
    assert charts.sparks(found[:1], NOW) is None
    row = charts.sparks(found, NOW)
    assert (row.lag, row.rate, row.most_lag_s, row.most_rate) == (["0,0 2,32"], ["2,0"], 30, 1)


def test_a_level_line_has_two_points():
    found = moments(*((minutes, 0.0, 0, 7) for minutes in range(60, 0, -1)))
    assert charts.sparks(found, NOW).lag == ["0,32 118,32"]
