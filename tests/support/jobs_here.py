"""Jobs of Airflow's tasks in this process, for tests of what comes of them: one of its own takes a second more."""

from __future__ import annotations

import io
import runpy
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import pytest

from sluice.spark import job
from sluice_airflow import operator
from sluice_airflow.child import Output


class JobHere:
    """Takes the place of `Child`."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], _: Any, hear: Any) -> None:
        self._words = list(command)[1:]
        self._env = env
        self.output = Output(hear)

    def run(self) -> int:
        """Run the job to its end; its exit code."""
        said, code, before = io.StringIO(), 0, signal.getsignal(signal.SIGTERM)
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(said):
            # Airflow in this process keeps its own variables.
            for name, value in self._env.items():
                patch.setenv(name, value)
            patch.setattr(job, "to_stderr", lambda: None)
            patch.setattr(sys, "argv", self._words)
            try:
                runpy.run_path(self._words[0], run_name="__main__")
            except SystemExit as ended:
                code = int(ended.code or 0)
            finally:
                signal.signal(signal.SIGTERM, before)
        for line in said.getvalue().splitlines():
            self.output.take(line)
        return code

    def stop(self) -> None:
        """There is nothing to end."""


@pytest.fixture
def jobs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the tasks of this test run their jobs so."""
    monkeypatch.setattr(operator, "Child", JobHere)
