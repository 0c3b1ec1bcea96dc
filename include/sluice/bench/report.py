"""The report of a bench, and its figures: sides alternate, and the median of the rounds counts."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import psutil

from sluice.runtime.terminal import Progress

# How often each side is measured; fewer are for looking whether a bench works.
ROUNDS_ENV = "SLUICE_BENCH_ROUNDS"
ROUNDS = int(os.environ.get(ROUNDS_ENV, "3"))

Figure = float | int | bool | str
Figures = Mapping[str, "Figure | Figures"]
Measured = TypeVar("Measured")


@dataclass(frozen=True)
class BenchReport:
    """One bench: what went in, what came out.

    Attributes:
        table: figures for people, in lines above the one for programs.
    """

    bench: str
    inputs: Mapping[str, Figure]
    figures: Figures
    machine: Mapping[str, Figure] = field(default_factory=lambda: machine())
    table: str = ""

    def line(self) -> str:
        """One JSON object; figures with four significant digits, which is more than they are worth."""
        inputs = {**self.inputs, **self.machine}
        return json.dumps({"bench": self.bench, "inputs": inputs, "figures": _round(self.figures)})


def machine() -> dict[str, Figure]:
    """The size of this machine."""
    return {"cpus": os.cpu_count() or 1, "memory_gb": round(psutil.virtual_memory().total / 2**30)}


def alternate(progress: Progress, sides: Mapping[str, Callable[[], float]], rounds: int = ROUNDS) -> dict[str, float]:
    """Measure each side once a round, in turn; the medians."""
    measured = measure_in_turn(progress, sides, lambda figure: f"{figure:,.4g}", rounds)
    return {name: statistics.median(figures) for name, figures in measured.items()}


def measure_in_turn(
    progress: Progress,
    sides: Mapping[str, Callable[[], Measured]],
    tell: Callable[[Measured], str],
    rounds: int = ROUNDS,
) -> dict[str, list[Measured]]:
    """Measure each side once a round, in turn, so that a slow minute of the machine hits all.

    Args:
        tell: says for the progress what was measured.

    Returns:
        each side's rounds.
    """
    measured: dict[str, list[Measured]] = {name: [] for name in sides}
    for number in range(1, rounds + 1):
        for name, measure in sides.items():
            with progress.step(f"{name}, round {number} of {rounds}") as step:
                measured[name].append(measure())
                step.update(tell(measured[name][-1]))
    return measured


def seconds(work: Callable[[], object]) -> float:
    """The time that it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _round(figure: Figure | Figures) -> Figure | Figures:
    if isinstance(figure, Mapping):
        return {name: _round(part) for name, part in figure.items()}
    return float(f"{figure:.4g}") if isinstance(figure, float) else figure
