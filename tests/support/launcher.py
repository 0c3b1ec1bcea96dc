"""The launcher as a user types it, and what belongs to it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from sluice import paths, shell
from sluice.cli.context import context as at_shell
from sluice.monitor.status import as_json, statuses


def sluice(*words: str, seconds: int = 600) -> subprocess.CompletedProcess[str]:
    """One command of the launcher, as a user types it."""
    command = [str(paths.PROJECT / "sluice"), *words]
    return subprocess.run(command, env=clean(), capture_output=True, text=True, timeout=seconds, check=False)


def clean() -> dict[str, str]:
    """The environment without what other rings set for themselves."""
    gone = ("AIRFLOW", "PYSPARK", "SPARK", "PYTHONPATH", "SLUICE_SEAL", "JAVA_HOME")
    return {name: value for name, value in os.environ.items() if not name.startswith(gone)}


def ours(home: Path) -> list[psutil.Process]:
    """The processes that belong to this home."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        try:
            if process.environ().get("SLUICE_RUNTIME", "").startswith(str(home)):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def wait_until(true: Callable[[], bool], what: str, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds} s"
        time.sleep(0.5)


def standing(slave: str) -> dict[str, object]:
    """What `./sluice status --json` says of a slave. Tests ask again and again: here that takes no process of its own,
    whose time Airflow would lack, for which they wait."""
    with pytest.MonkeyPatch.context() as patch:
        # It words commands as they are typed here.
        patch.setenv(shell.CLI_ENV, "./sluice")
        context = at_shell()
        try:
            rows = json.loads(as_json(statuses(context)))
        finally:
            context.store.close()
    return next(row for row in rows if row["slave"] == slave)
