"""How a bench gets from measurements to its one line."""

from __future__ import annotations

import io
import json

import pytest

from sluice import bench
from sluice.bench import report
from sluice.bench.phases import MeasuredPhase, print_table, take_medians
from sluice.bench.report import BenchReport, alternate
from sluice.errors import ConfigError
from sluice.runtime.terminal import Progress


def test_a_report_is_one_json_object_with_inputs_machine_and_figures() -> None:
    line = BenchReport("apply", {"changes": 200_000}, {"changes_per_s": 123_456.789, "equal": True}).line()
    assert "\n" not in line
    told = json.loads(line)
    assert told["bench"] == "apply"
    assert told["inputs"]["changes"] == 200_000
    assert told["inputs"].keys() >= {"cpus", "memory_gb"}
    assert told["figures"] == {"changes_per_s": 123_500.0, "equal": True}


@pytest.mark.parametrize(("figure", "shown"), [(0.123456, 0.1235), (7, 7), (123_456, 123_456), (True, True)])
def test_only_measured_figures_are_rounded(figure: float, shown: float) -> None:
    told = json.loads(BenchReport("any", {}, {"figure": figure}).line())["figures"]["figure"]
    assert (told, type(told)) == (shown, type(shown))


def test_sides_alternate_and_the_median_counts() -> None:
    order: list[str] = []
    figures = {"with": iter([5.0, 100.0, 6.0]), "without": iter([1.0, 2.0, 0.0])}

    def side(name: str) -> float:
        order.append(name)
        return next(figures[name])

    shown = io.StringIO()
    medians = alternate(Progress(shown), {name: lambda name=name: side(name) for name in figures})
    assert order == ["with", "without"] * report.ROUNDS
    assert medians == {"with": 6.0, "without": 1.0}
    assert "with, round 2 of 3" in shown.getvalue()


def test_phases_are_reported_by_medians_of_time_and_of_each_process() -> None:
    rounds = [
        {"cold": MeasuredPhase(3.0, {"drain": 0.5, "walsender": 0.25})},
        {"cold": MeasuredPhase(1.0, {"drain": 0.125})},
        {"cold": MeasuredPhase(2.0, {"drain": 0.25, "walsender": 0.75, "publish": 9.0})},
    ]
    medians = take_medians(rounds)
    assert medians == {"cold": MeasuredPhase(2.0, {"drain": 0.25, "walsender": 0.25})}
    figures = json.loads(BenchReport("any", {}, {"phases": medians["cold"].figures()}).line())["figures"]["phases"]
    assert figures == {"seconds": 2.0, "cpu_s": {"all": 0.5, "drain": 0.25, "walsender": 0.25}}


def test_a_line_of_the_table_has_time_processor_time_and_the_processes_with_most_of_it_first() -> None:
    _, cold, warm = print_table(
        {"ours": {"cold": MeasuredPhase(1.23456, {"publish": 0.25, "drain": 0.5}), "warm": MeasuredPhase(1.0, {})}}
    ).splitlines()
    assert cold.split() == ["ours,", "cold", "1.235", "0.75", "drain", "0.50,", "publish", "0.25"]
    assert warm.split() == ["ours,", "warm", "1.000", "0.00"]


@pytest.mark.parametrize(("name", "scale"), [("speed", 1.0), ("apply", 0.0), ("apply", -1.0)])
def test_a_bench_that_cannot_be_run_is_refused_before_anything_starts(name: str, scale: float) -> None:
    with pytest.raises(ConfigError, match=r"bench|scale") as refused:
        bench.run(name, scale)
    assert refused.value.hint


def test_a_bench_that_has_no_capture_is_not_run_by_another_one() -> None:
    with pytest.raises(ConfigError, match=r"SLC-914: .*does not capture"):
        bench.run("apply", capture="log")


def test_every_bench_of_the_command_line_exists() -> None:
    from sluice.cli.checkout_commands import BENCHES

    assert set(BENCHES) == set(bench.BENCHES)
