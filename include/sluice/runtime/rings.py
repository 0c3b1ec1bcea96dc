"""`./sluice test`: the tests ring by ring, fastest first, each with its time, and one line at the end that counts.

A test that is skipped has a reason, and is listed. With CI=true a skip is a failure: CI installs what it needs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from sluice import config
from sluice.errors import SluiceError
from sluice.runtime.java import java_home
from sluice.runtime.layout import BIN, Layout

LINT = "lint"
RINGS = (
    LINT,
    "unit",
    "architecture",
    "dags",
    "sql",
    "properties",
    "integration",
    "faults",
    "scenarios",
    "e2e",
)
_NO_TESTS = 5
_HEARTBEAT_S = 30
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

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {len(self.skipped)} skipped"


def run(names: Sequence[str]) -> int:
    """Run these rings, or all that exist; 0 only if tests ran and none failed.

    Raises:
        SluiceError: SLC-905, there is no ring of that name.
    """
    there = [ring for ring in RINGS if ring == LINT or any((config.PROJECT / "tests" / ring).rglob("test_*.py"))]
    if unknown := [name for name in names if name not in there]:
        raise SluiceError(905, f"there is no ring {unknown[0]!r}", f"the rings are {', '.join(there)}")
    total, times, started = Count(), [], time.monotonic()
    for ring in names or there:
        print(f"===== {ring}", flush=True)
        began = time.monotonic()
        count = _lint() if ring == LINT else _tests(ring)
        total.add(count)
        times.append(_line(ring, time.monotonic() - began, count))
        print(times[-1], flush=True)
    if len(times) > 1:
        times.append(_line("all", time.monotonic() - started, total))
    return _conclude(total, times)


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


def _lint() -> Count:
    count = Count()
    for title, command in _LINTERS:
        done = subprocess.run([BIN / command[0], *command[1:]], cwd=config.PROJECT)
        if done.returncode:
            print(f"{title}: failed", flush=True)
            count.failed += 1
        else:
            count.passed += 1
    return count


def _tests(ring: str) -> Count:
    with tempfile.TemporaryDirectory(prefix="sluice-test-") as directory:
        report = Path(directory) / "report.xml"
        command = [sys.executable, "-m", "pytest", f"tests/{ring}", f"--junit-xml={report}", "--durations=3"]
        code = _shown(ring, command)
        count = read_report(report)
    # An interrupted or broken run has no failed test, and is no success.
    if code not in (0, _NO_TESTS) and not count.failed:
        count.failed += 1
    return count


def _shown(ring: str, command: Sequence[str]) -> int:
    """Run it; a test that takes minutes is no silent minute."""
    began = time.monotonic()
    with subprocess.Popen(command, cwd=config.PROJECT, env=_environment()) as child:
        while True:
            try:
                return child.wait(_HEARTBEAT_S)
            except subprocess.TimeoutExpired:
                print(f" ... {ring} {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def _environment() -> dict[str, str]:
    """Ours, with a Java for the tests that start Spark themselves."""
    layout = Layout.of_environment()
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
