"""Small files: a DAG is a declaration, a Spark entry point is arguments and one call, a module is one idea."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
LIMITS = {
    "dags/*.py": 10,
    "dags/sluice_airflow_dags/*.py": 90,
    "spark_jobs/*.py": 50,
    "include/**/*.py": 400,
    "plugins/**/*.py": 400,
    "sql/**/*.py": 300,
    "sql/**/*.sql": 150,
    "tests/**/*.py": 360,
}


@pytest.mark.parametrize(("pattern", "limit"), LIMITS.items())
def test_no_file_is_longer_than_its_kind_allows(pattern, limit):
    files = list(PROJECT.glob(pattern))
    assert files
    lengths = {str(file.relative_to(PROJECT)): len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    assert not {name: length for name, length in lengths.items() if length >= limit}


def test_no_module_is_called_utils_or_the_like():
    vague = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}
    assert not [str(file) for file in (PROJECT / "include").rglob("*.py") if file.stem in vague]


@pytest.mark.parametrize("file", sorted((PROJECT / "spark_jobs").glob("*.py")), ids=lambda file: file.stem)
def test_a_job_offers_its_parser_and_runs_as_a_program_alone(file):
    text = file.read_text(encoding="utf-8")
    assert "def parser() -> argparse.ArgumentParser:" in text
    assert re.search(r'\nif __name__ == "__main__":\n    run(_as_task)?\(', text)
