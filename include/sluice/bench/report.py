"""The report of a bench, and its figures: sides alternate, and the median of the rounds counts."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import psutil

from sluice.runtime.terminal import Progress

# How often each side is measured; fewer are for looking whether a bench works.
ROUNDS_ENV = "SLUICE_BENCH_ROUNDS"
ROUNDS = int(os.environ.get(ROUNDS_ENV, "3"))

Figure = float | int | bool | str


@dataclass(frozen=True)
class Report:
    """One bench: what went in, what came out."""

    bench: str
    inputs: Mapping[str, Figure]
    figures: Mapping[str, Figure]
    machine: Mapping[str, Figure] = field(default_factory=lambda: machine())

    def line(self) -> str:
        """One JSON object; figures with four significant digits, which is more than they are worth."""
        figures = {name: _rounded(figure) for name, figure in self.figures.items()}
        return json.dumps({"bench": self.bench, "inputs": {**self.inputs, **self.machine}, "figures": figures})


def machine() -> dict[str, Figure]:
    """The size of this machine."""
    return {"cpus": os.cpu_count() or 1, "memory_gb": round(psutil.virtual_memory().total / 2**30)}


def alternating(progress: Progress, sides: Mapping[str, Callable[[], float]], rounds: int = ROUNDS) -> dict[str, float]:
    """Measure each side once a round, in turn, so that a slow minute of the machine hits all; the medians."""
    measured: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(1, rounds + 1):
        for name, measure in sides.items():
            with progress.step(f"{name}, round {number} of {rounds}") as step:
                measured[name].append(measure())
                step.update(f"{measured[name][-1]:,.4g}")
    return {name: statistics.median(figures) for name, figures in measured.items()}


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _rounded(figure: Figure) -> Figure:
    return float(f"{figure:.4g}") if isinstance(figure, float) else figure
