"""Phases of a bench's round: the time of each, and beside it the processor time of the processes that worked in it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from sluice.bench.report import Figures

# Processor time is counted in hundredths of a second.
_LEAST_S = 0.005


@dataclass(frozen=True)
class MeasuredPhase:
    """One phase, or the medians of the same phase of several rounds.

    Attributes:
        seconds: from its begin to its end.
        cpu_s: processor seconds by process.
    """

    seconds: float
    cpu_s: Mapping[str, float]

    def figures(self) -> Figures:
        """Return it as a report has it."""
        return {"seconds": self.seconds, "cpu_s": {"all": sum(self.cpu_s.values()), **self.cpu_s}}


def take_medians(rounds: Sequence[Mapping[str, MeasuredPhase]]) -> dict[str, MeasuredPhase]:
    """Return the median of each phase's time, and of each process's time in it."""
    return {name: _take_median([phases[name] for phases in rounds]) for name in rounds[0]}


def print_table(sides: Mapping[str, Mapping[str, MeasuredPhase]]) -> str:
    """Return a line for each phase of each side, with the processes that took the most time first."""
    lines = [f"{'':<16}{'seconds':>8}{'CPU s':>8}  of these"]
    for side, phases in sides.items():
        for name, phase in phases.items():
            by_process = sorted(phase.cpu_s.items(), key=lambda item: -item[1])
            told = ", ".join(f"{process} {cpu_s:.2f}" for process, cpu_s in by_process)
            lines.append(f"{f'{side}, {name}':<16}{phase.seconds:>8.3f}{sum(phase.cpu_s.values()):>8.2f}  {told}")
    return "\n".join(lines)


def _take_median(phases: Sequence[MeasuredPhase]) -> MeasuredPhase:
    processes = dict.fromkeys(chain.from_iterable(phase.cpu_s for phase in phases))
    cpu_s = {name: statistics.median(phase.cpu_s.get(name, 0.0) for phase in phases) for name in processes}
    return MeasuredPhase(
        statistics.median(phase.seconds for phase in phases),
        {name: spent for name, spent in cpu_s.items() if spent >= _LEAST_S},
    )
