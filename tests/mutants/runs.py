"""Runs of chosen tests in copies of the checkout."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from reaching import HERE, PROJECT, file_of
from recorder import CHOSEN, OUTCOMES

# Processes of a run bear its number in this variable, so that what a killed one leaves behind is found.
_RUN = "MUTANTS_RUN"
# Seconds that a run whose time is over has to clean up.
_ENDS_S = 60
_NO_TESTS = 5


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant.

    Attributes:
        said: killed, survived, or not decided.
        test: the one that killed it.
        passed: how many tests passed.
        why: it is not decided.
    """

    said: str
    test: str = ""
    passed: int = 0
    seconds: float = 0.0
    why: str = ""

    def __str__(self) -> str:
        if self.test:
            return f"{self.test}, {self.seconds:.0f} s"
        return f"**{self.said}**: {f'{self.why}; ' if self.why else ''}{self.passed} tests passed"


def pytest() -> list[str]:
    """The command, with the recorder."""
    return [sys.executable, "-m", "pytest", "-p", "recorder", "-p", "no:cacheprovider"]


def environment(checkout: Path) -> dict[str, str]:
    """For tests of a checkout: with its own code, in front of what .venv has, and with a Java."""
    path = os.pathsep.join(str(one) for one in (HERE, *(checkout / name for name in ("include", "plugins", "dags"))))
    script = (
        "import sys, pathlib; from sluice.runtime.java import java_home; print(java_home(pathlib.Path(sys.argv[1])))"
    )
    place = checkout / ".sluice" / "spark" / "java"
    place.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", script, str(place)]
    # Not by the code of the copy, which has a fault.
    ours = os.environ | {"PYTHONPATH": str(PROJECT / "include")}
    java = subprocess.run(command, env=ours, check=True, capture_output=True, text=True).stdout
    programs = os.pathsep.join([str(Path(sys.executable).parent), f"{java.strip()}/bin", os.environ["PATH"]])
    return os.environ | {"PYTHONPATH": path, "JAVA_HOME": java.strip(), "PATH": programs}


@contextmanager
def copy_checkout() -> Iterator[Path]:
    """A copy of the files that git knows of."""
    with tempfile.TemporaryDirectory(prefix="sluice-mutant-", ignore_cleanup_errors=True) as directory:
        Path(directory).chmod(0o755)
        names = subprocess.run(
            ["git", "ls-files", "-z"], cwd=PROJECT, check=True, capture_output=True, text=True
        ).stdout
        for name in filter(None, names.split("\0")):
            if (PROJECT / name).is_file():
                (Path(directory) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(PROJECT / name, Path(directory) / name)
        yield Path(directory)


def run(copy: Path, tests: Sequence[str], marks: str, limit_s: float) -> Outcome:
    """Run tests in a copy until one fails."""
    if not (files := [one for one in dict.fromkeys(map(file_of, tests)) if (copy / one).exists()]):
        return Outcome("survived")
    began, number = time.monotonic(), uuid.uuid4().hex
    with tempfile.TemporaryDirectory() as directory:
        chosen, became = Path(directory) / "chosen", Path(directory) / "became"
        chosen.write_text("\n".join(tests), encoding="utf-8")
        became.touch()
        variables = environment(copy) | {CHOSEN: str(chosen), OUTCOMES: str(became), _RUN: number}
        command = [*pytest(), *files, "-x", "-q", "--hypothesis-seed=0", *(["-m", marks] if marks else [])]
        with (Path(directory) / "out").open("w+", encoding="utf-8", errors="replace") as out:
            process = subprocess.Popen(command, cwd=copy, env=variables, stdout=out, stderr=out)
            code: int | None = None
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(limit_s)
            _end(process, number)
            out.seek(0)
            last = next((line.strip() for line in reversed(out.readlines()) if line.strip()), "nothing was said")
        facts = [json.loads(line) for line in became.read_text(encoding="utf-8").splitlines()]
    known = {one["test"]: one["became"] for one in facts}
    passed = sum(one == "passed" for one in known.values())
    # A test that hangs ends its process, and has an outcome as little as one that ran when the time was over.
    failed = [
        test for test, one in known.items() if one == "failed" or (one == "begun" and code not in (None, 0, _NO_TESTS))
    ]
    seconds = time.monotonic() - began
    if failed:
        return Outcome("killed", failed[0], passed, seconds)
    if code in (0, _NO_TESTS):
        return Outcome("survived", passed=passed, seconds=seconds)
    why = f"no end within {limit_s:.0f} s" if code is None else f"pytest ended with {code}: {last[:200]}"
    return Outcome("not decided", passed=passed, seconds=seconds, why=why)


def _end(process: subprocess.Popen[bytes], number: str) -> None:
    """End a run, and then its processes that are left."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDS_S)
    for one in psutil.process_iter():
        with suppress(psutil.Error):
            if one.environ().get(_RUN) == number:
                one.kill()
    process.wait()
