"""Which work of a job runs on executors: the table of ADR 14 says what the jobs do."""

from __future__ import annotations

import ast
import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "include" / "docs" / "adr" / "0014-work-on-executors.md"
# What gives Spark a part of a job's work.
PARTS = {"as_task", "in_task", "load", "load_blocks", "compare_all", "steps"}
WHOLE, PART, NOTHING = "all", "a part", "nothing"


def given_to_spark(file: Path) -> str:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module is not None]
    names = {alias.name for node in imports if str(node.module).startswith("sluice.spark.") for alias in node.names}
    if "run_as_task" in names:
        return WHOLE
    return PART if names & PARTS else NOTHING


def test_the_table_says_of_every_job_what_executors_do_of_it():
    table = [line.split("|")[1:4] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    told = {
        job: cell.strip() if cell.strip() in (WHOLE, NOTHING) else PART
        for jobs, cell, _ in table
        for job in re.findall(r"`(\w+)`", jobs)
    }
    assert told == {file.stem: given_to_spark(file) for file in (PROJECT / "spark_jobs").glob("*.py")}
