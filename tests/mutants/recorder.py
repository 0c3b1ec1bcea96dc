"""A plugin of pytest for `kill.py`: it runs chosen tests, writes down what became of them, and which SQL they read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

# Environment variables: a directory for what was read, a file with the tests to run, a file for what became of them.
READS, CHOSEN, OUTCOMES = "MUTANTS_READS", "MUTANTS_CHOSEN", "MUTANTS_OUTCOMES"


def pytest_configure(config: pytest.Config) -> None:
    # Also where no test is left to `./sluice test all` yet.
    config.addinivalue_line("markers", "full: left to `./sluice test all`")
    if READS in os.environ:
        _record_reads(Path(os.environ[READS]))


def _record_reads(directory: Path) -> None:
    from sluice import sqlfiles

    read, known = sqlfiles.statement, set[tuple[str, str]]()
    out = (directory / f"sql.{os.getpid()}").open("a", encoding="utf-8")

    def statement(vendor: str, name: str) -> str:
        one = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0], f"{vendor}/{name}"
        if one not in known:
            known.add(one)
            out.write("\t".join(one) + "\n")
            out.flush()
        return read(vendor, name)

    statement.cache_clear = read.cache_clear  # type: ignore[attr-defined]
    sqlfiles.statement = statement  # type: ignore[assignment]


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
