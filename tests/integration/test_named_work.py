"""What a job has Spark do is shown by the name of the job, its source and its slaves."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from urllib.request import urlopen

import pytest
from sqlalchemy import select
from support.sparkserver import TOKEN, job_environment
from support.world import SOURCE

from sluice.paths import PROJECT
from sluice.store.tables import audit

pytestmark = [pytest.mark.postgres, pytest.mark.spark, pytest.mark.slow]

# Jobs as they are, one after the other; a process of each would take seconds to begin.
PROGRAM = """
import json, runpy, sys
for file, *words in json.loads(sys.argv[1]):
    sys.argv, code = [file, *words], 0
    try:
        runpy.run_path(file, run_name="__main__")
    except SystemExit as left:
        code = left.code
    print(f"{file} ends with {code}", file=sys.stderr)
"""
DDL = """
CREATE TABLE t (id int PRIMARY KEY, note text);
INSERT INTO t SELECT g, g::text FROM generate_series(1, 100) AS g;
"""
ZURICH, WHO = "--slave=zurich", "--who=alice"
UPDATE = [
    ["bootstrap"],
    ["allow", ZURICH, "--shown=x", "--answer=reject", WHO],
    ["inhibit", ZURICH, "--slave=geneva"],
    ["dump", ZURICH, "--slave=geneva"],
    ["release", ZURICH, "--slave=geneva"],
]
STREAM = [["publish", "--once"], ["drain", ZURICH, "--once"]]
# These find nothing to do, or refuse it.
REFUSED = [
    ["expected", ZURICH],
    ["losses", ZURICH],
    ["question", ZURICH, "--change=1"],
    ["decide", ZURICH, "--change=1", "--answer=approve", WHO],
    ["administer", ZURICH, "--remove-first=1", WHO],
    ["statement", "--statement=1"],
    ["inhibit", ZURICH],
    ["abandon", ZURICH],
    ["cancel", ZURICH, WHO],
    ["housekeeping"],
]


@pytest.fixture
def run(spark_server, java, tmp_path):
    """Runs jobs, and says how each ended, and what they logged."""

    def run(world, jobs):
        files = [
            [str(PROJECT / "spark_jobs" / f"{job}.py"), *([] if job == "housekeeping" else ["--source", SOURCE]), *rest]
            for job, *rest in jobs
        ]
        there = {"SPARK_REMOTE": spark_server.remote, "SPARK_CONNECT_AUTHENTICATE_TOKEN": TOKEN}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, json.dumps(files)],
            env={**job_environment(java), **there, **world.environment(), "SLUICE_RUN": "dag/run/task/1"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=500,
        )
        assert done.returncode == 0, done.stderr
        codes = dict(re.findall(r"/(\w+)\.py ends with (\d+)", done.stderr))
        return codes, done.stderr

    return run


def shown(server):
    """The tags of all jobs, by which its pages show them, without what Spark puts before them."""
    with urlopen(f"{server.pages}/api/v1/applications") as answer:
        (application,) = json.load(answer)
    with urlopen(f"{server.pages}/api/v1/applications/{application['id']}/jobs") as answer:
        return {tag.partition("_Tag_")[2] for job in json.load(answer) for tag in job["jobTags"]}


@pytest.mark.full
def test_a_job_is_shown_by_its_name_and_does_its_work_on_an_executor(updating, run, spark_server):
    world = updating(DDL, ["public.t"])
    codes, said = run(world, UPDATE)
    assert set(codes.values()) == {"0"}, said
    with world.running():
        codes, said = run(world, [["verify", "--initial", ZURICH]])
        world.reader("zurich").execute("DELETE FROM t WHERE id < 10")
        codes, said = run(world, [["repair", ZURICH]])
    assert codes == {"repair": "0"}, said
    world.master.execute("UPDATE t SET note = 'x' WHERE id = 1")
    codes, said = run(world, [*STREAM, *REFUSED])
    assert {codes[job] for job in ("publish", "drain", "cancel", "housekeeping")} == {"0"}, said
    assert {codes[job] for job in ("expected", "losses", "statement", "decide", "administer")} == {"3"}, said
    names = {re.split(" from |(?<= at ).*", name)[0] for name in shown(spark_server)}
    pair = f"{SOURCE} -> zurich"
    assert names >= {
        *(f"sluice.{job} {SOURCE}" for job in ("bootstrap", "publish", "statement")),
        *(f"sluice.{job} {pair}" for job in ("drain", "question", "decide", "losses", "administer")),
        *(f"sluice.{job} {pair} geneva" for job in ("inhibit", "dump", "release")),
        # Its comparisons bear no position.
        f"sluice.repair {pair} at ",
        "sluice.housekeeping",
    }
    with world.context.store.begin() as connection:
        assert "dag/run/task/1" in connection.scalars(select(audit.c.actor)).all()
