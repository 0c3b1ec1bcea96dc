"""A plugin of pytest for `kill.py`: it runs chosen tests, and writes down what became of them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

# Environment variables: a file with the tests to run, a file for what became of them.
CHOSEN, OUTCOMES = "MUTANTS_CHOSEN", "MUTANTS_OUTCOMES"


def pytest_configure(config: pytest.Config) -> None:
    # Also where no test is left to `./sluice test all` yet.
    config.addinivalue_line("markers", "full: left to `./sluice test all`")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files in the order in which they are named. Tests of a file share servers, and stay together."""
    if CHOSEN in os.environ:
        chosen = Path(os.environ[CHOSEN]).read_text(encoding="utf-8").splitlines()
        wanted, place = set(chosen), {file: number for number, file in enumerate(dict.fromkeys(map(_file, chosen)))}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in wanted])
        items[:] = sorted((item for item in items if item.nodeid in wanted), key=lambda item: place[_file(item.nodeid)])


def _file(test: str) -> str:
    return test.partition("::")[0]


def pytest_runtest_logstart(nodeid: str) -> None:
    _write(test=nodeid, became="begun")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if not report.passed or report.when == "call":
        _write(test=report.nodeid, became=report.outcome)


def _write(**facts: str) -> None:
    if OUTCOMES in os.environ:
        with Path(os.environ[OUTCOMES]).open("a", encoding="utf-8") as out:
            out.write(json.dumps(facts) + "\n")
