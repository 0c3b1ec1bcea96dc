"""`./sluice test`: the tests ring by ring, each with its time, and one line at the end that counts.

Tests marked `full` run with the word `all` alone. The last ring starts all that there is, and leaves a core idle: it
goes first, beside rings that start nothing, whose output is printed when they end. The others run together after it,
their files spread over the cores. Each ring has a budget, and the end says which ring is over it.
A skipped test has a reason, and is listed. With CI=true a skip is a failure: CI installs what tests need.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

import psutil

from sluice import paths
from sluice.dev.packages import require
from sluice.errors import SluiceError
from sluice.runtime import processes
from sluice.runtime.java import java_home
from sluice.runtime.paths import BIN, RuntimePaths

LINT = "lint"
# The seconds that a ring's tests may take one by one without `all`. They aim at 20 minutes on two idle cores, with the
# installation. The first three share these cores with the last.
BUDGETS = {
    LINT: 80,
    "unit": 80,
    "architecture": 80,
    "dags": 250,
    "properties": 80,
    "faults": 80,
    "integration": 2200,
    "e2e": 240,
}
RINGS = tuple(BUDGETS)
# It starts everything that there is.
WHOLE = "e2e"
# They start nothing.
_READING = ("unit", "architecture")
# Every test, those too that are marked `full`.
ALL, FULL = "all", "full"
# The rings of `./sluice test quick`, which runs the smoke tests of integration besides.
QUICK = "quick"
QUICK_RINGS = (LINT, "unit", "dags")
SMOKE = "smoke"
# How many inputs that are nearly right each place of text of others is given with `all`, if nothing else is said.
_FUZZ_ENV, _FUZZ_INPUTS = "SLUICE_FUZZ_INPUTS", "10000"
_SLOWEST = 20
# Tests wait for servers, and for time, for about a third of their time.
_WAITING = 1
# A process of tests, with its servers and their data, which are in memory, takes up to five.
_PROCESS_BYTES = 6 << 30
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_NO_TESTS = 5
# More than rings take together on a slow machine; and with `all`, by which the last ring takes over an hour.
_CI_SECONDS, _CI_SECONDS_ALL = 80 * 60, 180 * 60
_LINTERS = (("ruff", "check"), ("ruff", "format", "--check"), ("mypy",))


@dataclass
class Count:
    """Results of tests, and the seconds that they took one by one."""

    passed: int = 0
    failed: int = 0
    skipped: list[str] = field(default_factory=list)
    seconds: float = 0.0
    durations: list[tuple[float, str]] = field(default_factory=list)

    def add(self, other: Count) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.seconds += other.seconds
        self.durations += other.durations

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {len(self.skipped)} skipped"


_Step = Callable[[], Mapping[str, Count]]


def run(names: Sequence[str]) -> int:
    """Run these rings, or all; 0 only if tests ran and none failed.

    Raises:
        SluiceError: SLC-003, there is no ring of that name; SLC-281, the packages for developers are not installed.
    """
    require("pytest")
    words = (ALL, QUICK, *RINGS)
    if unknown := [name for name in names if name not in words]:
        raise SluiceError(3, f"there is no ring {unknown[0]!r}", f"name one of {', '.join(words)}")
    began, quick, every = time.monotonic(), QUICK in names, ALL in names
    named = [ring for ring in RINGS if ring in names or (quick and ring in QUICK_RINGS)]
    rings = named or list(RINGS)
    chosen = () if every else ("-m", f"not {FULL}")
    if every:
        os.environ.setdefault(_FUZZ_ENV, _FUZZ_INPUTS)
    counts: dict[str, Count] = defaultdict(Count)
    for steps in _phases(rings, chosen, smoke=quick and "integration" not in rings):
        for results in _at_once(steps):
            for ring, count in results.items():
                counts[ring].add(count)
    return _conclude(counts, time.monotonic() - began, {} if every else BUDGETS)


def _phases(rings: Sequence[str], chosen: Sequence[str], *, smoke: bool) -> Iterator[list[_Step]]:
    """Steps that run at once, phase by phase. Rings that work hard leave the first to the one that starts all."""
    beside = [ring for ring in rings if ring in _READING] if WHOLE in rings else []
    together = [ring for ring in rings if ring not in (LINT, WHOLE, *beside)]
    steps: list[_Step] = []
    if LINT in rings:
        steps.append(lambda: {LINT: _lint()})
    if beside:
        steps.append(lambda: _tests(beside, options=chosen, later=True, most=1))
    if smoke:
        steps.append(lambda: _tests(["integration"], options=["-m", SMOKE], later=True))
    if WHOLE in rings:
        yield [*steps, lambda: _tests([WHOLE], options=chosen, most=1)]
        steps = []
    yield [*steps, lambda: _tests(together, options=chosen)] if together else steps


def _at_once(steps: Sequence[_Step]) -> list[Mapping[str, Count]]:
    if not steps:
        return []
    with ThreadPoolExecutor(len(steps)) as threads:
        return [running.result() for running in [threads.submit(step) for step in steps]]


def _conclude(counts: Mapping[str, Count], seconds: float, budgets: Mapping[str, int]) -> int:
    total = Count()
    for count in counts.values():
        total.add(count)
    print(f"===== the slowest {_SLOWEST}")
    for took, test in sorted(total.durations, reverse=True)[:_SLOWEST]:
        print(f"{took:7.1f} s   {test}")
    print(f"{workers()} processes at most, {os.cpu_count()} cores, {_memory() / (1 << 30):.1f} GB of memory")
    print("=====")
    for ring in (ring for ring in RINGS if ring in counts):
        budget = budgets.get(ring, float("inf"))
        over = f"   OVER ITS BUDGET of {budget} s" if counts[ring].seconds > budget else ""
        print(f"{_line(ring, counts[ring].seconds, counts[ring])}{over}")
    if len(counts) > 1:
        print(_line("together", seconds, total))
    for skipped in total.skipped:
        print(f"skipped: {skipped}")
    strict = _strict() and bool(total.skipped)
    if strict:
        print("CI: a skipped test counts as a failure")
    print(total, flush=True)
    return int(total.failed > 0 or total.passed == 0 or strict)


def _strict() -> bool:
    return os.environ.get("CI", "").lower() in ("1", "true")


def _line(what: str, seconds: float, count: Count) -> str:
    return f"{what:<14}{seconds:7.1f} s   {count}"


def _lint() -> Count:
    count, began = Count(), time.monotonic()
    for program, *words in _LINTERS:
        with _output([program, *words], later=True) as out:
            code = subprocess.run(
                [BIN / program, *words], cwd=paths.PROJECT, stdout=out, stderr=out, check=False
            ).returncode
        if code:
            count.failed += 1
        else:
            count.passed += 1
    count.seconds = time.monotonic() - began
    return count


@contextmanager
def _output(title: Sequence[str], *, later: bool) -> Iterator[IO[bytes] | None]:
    """The output of a step: here at once, or a file that is printed whole at its end."""
    heading = f"===== {' '.join(title)}"
    if not later:
        print(heading, flush=True)
        yield None
        return
    with tempfile.TemporaryFile() as file:
        yield file
        file.seek(0)
        print(f"{heading}\n{file.read().decode(errors='replace')}", end="", flush=True)


def workers() -> int:
    """The number of processes that test side by side: as many as cores and memory suffice for."""
    cores = os.cpu_count() or 1
    return max(1, min(cores + _WAITING if cores > 1 else 1, _memory() // _PROCESS_BYTES))


def _memory() -> int:
    """Bytes that the machine has, or gives to a container that we are in."""
    sizes = [psutil.virtual_memory().total]
    for limit in _LIMITS:
        with suppress(OSError, ValueError):
            sizes.append(int(limit.read_text()))
    return min(sizes)


def _tests(
    rings: Sequence[str], *, options: Sequence[str] = (), later: bool = False, most: int | None = None
) -> dict[str, Count]:
    """Rings in one run of pytest; by each ring what became of its tests.

    Args:
        options: more words for pytest, which choose tests; none if every test is to run.
        later: print what it says at its end.
        most: the processes that test, if not `workers()`.
    """
    with tempfile.TemporaryDirectory(prefix="sluice-test-") as directory:
        report = Path(directory) / "report.xml"
        command = [sys.executable, "-m", "pytest", *(f"tests/{ring}" for ring in rings), *options]
        command += [f"--junit-xml={report}", "--no-header", "-q"]
        if (processes := most or workers()) > 1 and set(rings) != {"unit"}:
            # A file stays in one process: its tests share servers and worlds. tests/conftest.py puts them in order.
            command += ["--numprocesses", str(processes), "--dist", "loadfile", "--no-loadscope-reorder"]
        with _output([", ".join(rings)], later=later) as out:
            code = _run_to_its_end(command, out, _CI_SECONDS if options else _CI_SECONDS_ALL)
        counts = read_report(report, rings[-1])
    # An interrupted or broken run has no failed test, and is no success.
    if code not in (0, _NO_TESTS) and not any(count.failed for count in counts.values()):
        counts.setdefault(rings[-1], Count()).failed += 1
    return counts


def _run_to_its_end(command: Sequence[str], out: IO[bytes] | None, limit_s: float) -> int:
    """Run pytest. In CI, which would cut it off without a word, its processes tell where they stand then, and end."""
    process = subprocess.Popen(command, cwd=paths.PROJECT, env=_environment(), stdout=out, stderr=subprocess.STDOUT)
    try:
        return process.wait(limit_s if _strict() else None)
    except subprocess.TimeoutExpired:
        print(f"\n===== no end after {limit_s} s", flush=True)
        runner = psutil.Process(process.pid)
        # pytest lets this signal print the stacks.
        processes.end([*runner.children(), runner], signal.SIGABRT, 10)
        return process.wait()


def _environment() -> dict[str, str]:
    """Ours, with a Java for the tests that start Spark themselves."""
    layout = RuntimePaths.from_environment()
    layout.make()
    java = java_home(layout.spark / "java")
    path = os.pathsep.join([str(BIN), str(java / "bin"), os.environ.get("PATH", os.defpath)])
    return {**os.environ, "PATH": path, "JAVA_HOME": str(java)}


def read_report(report: Path, fallback: str) -> dict[str, Count]:
    """Count a JUnit report as pytest writes it, by rings; nothing if it wrote none, or broke off in it.

    Args:
        fallback: the ring of what names no test, such as a file that cannot be imported.
    """
    counts: dict[str, Count] = {}
    try:
        cases = list(ElementTree.parse(report).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return counts
    for case in cases:
        parts = (case.get("classname") or case.get("name") or "").split(".")
        ring = parts[1] if len(parts) > 1 and parts[0] == "tests" and parts[1] in RINGS else fallback
        count = counts.setdefault(ring, Count())
        seconds = float(case.get("time") or 0)
        count.seconds += seconds
        count.durations.append((seconds, f"{case.get('classname')}::{case.get('name')}"))
        outcome = {child.tag for child in case}
        if outcome & {"failure", "error"}:
            count.failed += 1
        elif "skipped" in outcome:
            reason = case.find("skipped")
            message = reason.get("message", "") if reason is not None else ""
            count.skipped.append(f"{case.get('classname')}::{case.get('name')}: {message}")
        else:
            count.passed += 1
    return counts
