"""Which heavy packages a job has loaded when it sends its first statement. They are counted: no time is taken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import first_statement
from support.world import SOURCE

from sluice.paths import PROJECT

VENDORS = {f"sluice.vendors.{file.parent.name}" for file in PROJECT.glob("include/sluice/vendors/*/vendor.py")}
HEAVY = {
    "airflow",
    "alembic",
    "cryptography",
    "fsspec",
    "grpc",
    "jinja2",
    "lxml",
    "mako",
    "numpy",
    "oracledb",
    "pandas",
    "psutil",
    "psycopg",
    "py4j",
    "pyarrow",
    "pydantic",
    "pyiceberg",
    "pymysql",
    "pyspark",
    "sqlalchemy",
    "sqlglot",
    "yaml",
    *VENDORS,
}
# The configuration, the sealed connections and the control store.
STORE = {"cryptography", "psycopg", "pydantic", "sqlalchemy", "yaml"}
ARROW = STORE | {"numpy", "pyarrow"}
POSTGRESQL = ARROW | {"sluice.vendors.postgresql"}
# By job: its arguments, and the packages that it may load. A package that is not loaded any more is to be taken out.
SLAVE = "--slave=zurich"
JOBS = {
    "abandon": ([SLAVE], STORE),
    "administer": ([SLAVE, "--clear-queue", "--who=alice"], STORE),
    "alerts": (["--sent"], STORE),
    "allow": ([SLAVE, "--shown=x", "--answer=approve", "--who=alice"], STORE),
    "blocks": ([SLAVE], ARROW),
    "bootstrap": ([], STORE),
    "cancel": ([SLAVE], STORE),
    "decide": ([SLAVE, "--change=1", "--answer=approve", "--who=alice"], STORE),
    "drain": ([SLAVE], STORE),
    "dump": ([SLAVE], ARROW),
    "expected": ([SLAVE], ARROW),
    "housekeeping": (["--days=1"], STORE),
    "inhibit": ([SLAVE], ARROW),
    "losses": ([SLAVE], STORE),
    "publish": ([], ARROW),
    "question": ([SLAVE, "--change=1"], STORE),
    "receive": ([SLAVE], ARROW),
    "release": ([SLAVE], STORE),
    "repair": ([SLAVE], POSTGRESQL),
    "statement": (["--statement=1"], STORE),
    "upgrade_master": (["--step=after", "--who=alice"], ARROW),
    "verify": ([SLAVE], POSTGRESQL),
}
DDL = "CREATE TABLE flights (id int PRIMARY KEY, note text);"


@pytest.fixture(scope="module")
def environment(server, tmp_path_factory):
    from support.world import World

    world = World(server, tmp_path_factory.mktemp("start") / "world", DDL, ["public.flights"], copied=True)
    world.master.execute("INSERT INTO flights SELECT n, 'x' FROM generate_series(1, 50) n")
    yield {
        **os.environ,
        **world.environment(),
        "PYTHONPATH": os.pathsep.join(str(PROJECT / name) for name in ("include", "plugins")),
    }
    world.close()


def loaded(environment, until, job, arguments):
    """The heavy packages that a job of its own process has loaded by then."""
    own = arguments if job in ("alerts", "housekeeping") else [f"--source={SOURCE}", *arguments]
    program, file = Path(first_statement.__file__), PROJECT / "spark_jobs" / f"{job}.py"
    done = subprocess.run([sys.executable, program, until, file, *own], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = json.loads(done.stdout.splitlines()[-1])
    return {package for package in HEAVY if any(f"{name}.".startswith(f"{package}.") for name in names)}


def test_every_job_is_in_the_list():
    assert set(JOBS) == {file.stem for file in PROJECT.glob("spark_jobs/*.py")}


# Each is a process of its own; these are one for each set of packages.
@pytest.mark.full(but=["drain", "dump", "publish"])
@pytest.mark.parametrize("job", JOBS)
def test_a_job_loads_what_its_first_statement_needs_and_no_more(environment, job):
    allowed, found = JOBS[job][1], loaded(environment, "statement", job, JOBS[job][0])
    assert not found - allowed, f"{job} loads {', '.join(sorted(found - allowed))} before its first statement"
    assert not allowed - found, f"{job} does without {', '.join(sorted(allowed - found))}: take it out of the list"


def test_changes_are_published_and_delivered_without_pandas(environment):
    for job, arguments in {"publish": ["--once"], "drain": [SLAVE, "--once"]}.items():
        found = loaded(environment, "end", job, arguments)
        assert "pyarrow" in found
        assert not found & {"pandas", "pyspark", "airflow", *VENDORS - {"sluice.vendors.postgresql"}}
