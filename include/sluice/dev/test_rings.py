"""`./sluice test`: the tests ring by ring, fastest first, each with its time, and one line at the end that counts.

Where there are two cores, two rings run side by side, the largest in pieces, and the last alone.

A test that is skipped has a reason, and is listed. With CI=true a skip is a failure: CI installs what it needs.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Lock
from xml.etree import ElementTree

from sluice import paths
from sluice.dev import parallel_commands
from sluice.dev.packages import require
from sluice.errors import SluiceError
from sluice.runtime.java import java_home
from sluice.runtime.paths import BIN, RuntimePaths

LINT = "lint"
RINGS = (
    LINT,
    "unit",
    "architecture",
    "dags",
    "sql",
    "properties",
    "faults",
    "scenarios",
    "integration",
    "e2e",
)
# It starts everything that there is, and uses every core by itself.
ALONE = "e2e"
# Into how many pieces a ring is cut when something runs beside it.
PARTS = {"integration": 6}
_NO_TESTS = 5
_making = Lock()
_LINTERS = (
    ("ruff check", ("ruff", "check")),
    ("ruff format --check", ("ruff", "format", "--check")),
    ("mypy", ("mypy",)),
)


@dataclass
class Count:
    """What became of tests."""

    passed: int = 0
    failed: int = 0
    skipped: list[str] = field(default_factory=list)

    def add(self, other: Count) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    @classmethod
    def of(cls, parts: Iterable[Count]) -> Count:
        """Their sum."""
        found = cls()
        for part in parts:
            found.add(part)
        return found

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {len(self.skipped)} skipped"


@dataclass(frozen=True)
class RingPart:
    """What one process tests: a ring, or some files of it."""

    ring: str
    title: str
    paths: tuple[str, ...]


def run(names: Sequence[str]) -> int:
    """Run these rings, or all that exist; 0 only if tests ran and none failed.

    Raises:
        SluiceError: SLC-905, there is no ring of that name; SLC-281, the packages for developers are not installed.
    """
    require("pytest")
    there = [ring for ring in RINGS if ring == LINT or any((paths.PROJECT / "tests" / ring).rglob("test_*.py"))]
    if unknown := [name for name in names if name not in there]:
        raise SluiceError(905, f"there is no ring {unknown[0]!r}", f"name one of {', '.join(there)}")
    started = time.monotonic()
    rings = list(names or there)
    together = [ring for ring in rings if ring != ALONE]
    beside = len(together) > 1 and parallel_commands.lanes(2) > 1
    pieces = [piece for ring in together for piece in cut(ring, PARTS.get(ring, 1) if beside else 1)]
    results = parallel_commands.side_by_side(partial(_run, beside=beside), pieces)
    for piece in [piece for ring in rings if ring == ALONE for piece in cut(ring, 1)]:
        pieces.append(piece)
        results.append(_run(piece, beside=False))
    total, times = Count(), []
    for ring in rings:
        ours = [result for piece, result in zip(pieces, results, strict=True) if piece.ring == ring]
        count = Count.of(one for _, one in ours)
        total.add(count)
        times.append(_line(ring, sum(seconds for seconds, _ in ours), count))
    if len(times) > 1:
        times.append(_line("all", time.monotonic() - started, total))
    return _conclude(total, times)


def cut(ring: str, parts: int) -> list[RingPart]:
    """A ring in so many pieces of neighbouring test files; uncut if that are more than its files."""
    files = sorted(f"tests/{ring}/{path.name}" for path in (paths.PROJECT / "tests" / ring).glob("test_*.py"))
    if parts == 1 or len(files) < parts:
        return [RingPart(ring, ring, (f"tests/{ring}",))]
    edges = [len(files) * part // parts for part in range(parts + 1)]
    return [
        RingPart(ring, f"{ring} {part}/{parts}", tuple(files[begin:end]))
        for part, (begin, end) in enumerate(pairwise(edges), 1)
    ]


def _run(piece: RingPart, *, beside: bool) -> tuple[float, Count]:
    """One piece; its seconds and what became of its tests."""
    parallel_commands.say(f"===== {piece.title}" + (" begins" if beside else ""))
    began = time.monotonic()
    count = _lint(beside=beside) if piece.ring == LINT else _tests(piece, beside=beside)
    seconds = time.monotonic() - began
    parallel_commands.say(_line(piece.title, seconds, count))
    return seconds, count


def _line(what: str, seconds: float, count: Count) -> str:
    return f"{what:<14}{seconds:7.1f} s   {count}"


def _conclude(total: Count, times: list[str]) -> int:
    print("=====", *times, sep="\n")
    for skipped in total.skipped:
        print(f"skipped: {skipped}")
    strict = os.environ.get("CI", "").lower() in ("1", "true") and bool(total.skipped)
    if strict:
        print("CI: a skipped test counts as a failure")
    print(total, flush=True)
    return int(total.failed > 0 or total.passed == 0 or strict)


def _lint(*, beside: bool) -> Count:
    count = Count()
    for title, command in _LINTERS:
        words = [BIN / command[0], *command[1:]]
        if parallel_commands.shown(LINT, words, paths.PROJECT, os.environ, beside=beside):
            parallel_commands.say(f"{title}: failed")
            count.failed += 1
        else:
            count.passed += 1
    return count


def _tests(piece: RingPart, *, beside: bool) -> Count:
    with tempfile.TemporaryDirectory(prefix="sluice-test-") as directory:
        report = Path(directory) / "report.xml"
        command = [
            sys.executable,
            "-m",
            "pytest",
            *piece.paths,
            f"--junit-xml={report}",
            "--durations=3",
            "--no-header",
        ]
        code = parallel_commands.shown(piece.title, command, paths.PROJECT, _environment(), beside=beside)
        count = read_report(report)
    # An interrupted or broken run has no failed test, and is no success.
    if code not in (0, _NO_TESTS) and not count.failed:
        count.failed += 1
    return count


def _environment() -> dict[str, str]:
    """Ours, with a Java for the tests that start Spark themselves."""
    layout = RuntimePaths.of_environment()
    with _making:
        layout.make()
        java = java_home(layout.spark / "java")
    path = os.pathsep.join([str(BIN), str(java / "bin"), os.environ.get("PATH", os.defpath)])
    return {**os.environ, "PATH": path, "JAVA_HOME": str(java)}


def read_report(report: Path) -> Count:
    """Count a JUnit report as pytest writes it; nothing if it wrote none, or broke off in it."""
    count = Count()
    try:
        cases = ElementTree.parse(report).iter("testcase")
    except (OSError, ElementTree.ParseError):
        return count
    for case in cases:
        outcome = {child.tag for child in case}
        if outcome & {"failure", "error"}:
            count.failed += 1
        elif "skipped" in outcome:
            reason = case.find("skipped")
            said = reason.get("message", "") if reason is not None else ""
            count.skipped.append(f"{case.get('classname')}::{case.get('name')}: {said}")
        else:
            count.passed += 1
    return count
