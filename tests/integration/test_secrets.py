"""No password is ever seen: not in a log, an event log, a plan, a page, a file, a command line or an environment."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import psutil
import pyarrow.parquet as pq
import pytest
from psycopg import sql
from support.sparkserver import TOKEN, job_environment
from support.world import SOURCE

from sluice.connections import ConnectionInfo
from sluice.paths import PROJECT

pytestmark = [pytest.mark.postgres, pytest.mark.spark, pytest.mark.slow]

CANARY = "canary+7d1e/f00d&word"
FORMS = [CANARY.encode(), base64.b64encode(CANARY.encode()), urllib.request.quote(CANARY, safe="").encode()]
DDL = """
CREATE TABLE t (id int PRIMARY KEY, note text);
INSERT INTO t SELECT g, 'note ' || g FROM generate_series(1, 200) AS g;
"""
SLAVES = ["--slave", "zurich", "--slave", "geneva"]
PAGES = ["/jobs/", "/stages/", "/environment/", "/executors/", "/SQL/", "/connect/", "/api/v1/applications"]


@pytest.fixture
def world(updating):
    """A world in which every connection has the canary for its password."""
    world = updating(DDL, ["public.t"])
    for name, info in list(world.infos.items()):
        change = sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(info.login), CANARY)
        world.reader(name).execute(change)
        world.infos[name] = replace(info, password=CANARY)
    world.infos["sluice_airflow_api"] = ConnectionInfo("http", "127.0.0.1", 9, "", "admin", CANARY)
    world.infos["sluice_spark"] = ConnectionInfo("spark_connect", "localhost", 9, "", "", CANARY)
    return world


@pytest.fixture
def job(world, spark_server, java, tmp_path):
    """Runs a job as a process of its own, its streams in files; how it ended and what it said."""
    env = {**job_environment(java), "SPARK_REMOTE": spark_server.remote, "SPARK_CONNECT_AUTHENTICATE_TOKEN": TOKEN}
    logs = tmp_path / "logs"
    logs.mkdir()

    def run(name, *arguments):
        words = [sys.executable, str(PROJECT / "spark_jobs" / f"{name}.py"), "--source", SOURCE, *arguments]
        with (logs / f"{name}.out").open("wb") as out, (logs / f"{name}.err").open("wb") as err:
            ended = subprocess.run(words, env={**env, **world.environment()}, stdout=out, stderr=err, timeout=300)
        said = (logs / f"{name}.out").read_text() + (logs / f"{name}.err").read_text()
        return ended.returncode, said

    return run


@contextmanager
def watched() -> Iterator[tuple[Counter[str], set[str]]]:
    """Look again and again at each process below ours: how often each kind was seen, and where the canary was."""
    kinds: Counter[str] = Counter()
    found: set[str] = set()
    over = Event()

    def look() -> None:
        for process in psutil.Process().children(recursive=True):
            with suppress(OSError):
                place = Path(f"/proc/{process.pid}")
                command, environment = (place / "cmdline").read_bytes(), (place / "environ").read_bytes()
                kinds.update(
                    kind for kind in ("spark_jobs/", "pyspark.daemon", "SparkConnectServer") if kind.encode() in command
                )
                if any(form in text for form in FORMS for text in (command, environment)):
                    found.add(command.decode(errors="replace"))

    def repeat() -> None:
        while not over.is_set():
            look()
            over.wait(0.02)

    thread = Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield kinds, found
    finally:
        over.set()
        thread.join(10)


def files_with_the_canary(*directories: Path) -> list[Path]:
    files = [path for directory in directories for path in directory.rglob("*") if path.is_file()]
    assert files
    return [path for path in files if any(form in path.read_bytes() for form in FORMS)]


def pages_with_the_canary(root: str) -> list[str]:
    def text(page: str) -> bytes:
        with urllib.request.urlopen(root + page, timeout=30) as answer:
            return bytes(answer.read())

    (application,) = [one["id"] for one in json.loads(text("/api/v1/applications"))]
    details = [f"/api/v1/applications/{application}/{what}" for what in ("environment", "sql", "jobs")]
    return [page for page in (*PAGES, *details) if any(form in text(page) for form in FORMS)]


@pytest.mark.full
def test_the_canary_is_nowhere(world, job, spark_server, tmp_path):
    with watched() as (kinds, found):
        for name, arguments in {
            "bootstrap": ["--recreate-triggers"],
            "publish": ["--once"],
            "inhibit": SLAVES,
            "dump": SLAVES,
            "release": SLAVES,
        }.items():
            code, said = job(name, *arguments)
            assert code == 0, said
        world.master.execute("UPDATE t SET note = 'changed' WHERE id < 50")
        with world.running():
            code, said = job("verify", *SLAVES, "--initial")
        assert code == 0, said
        assert job("drain", "--slave", "zurich", "--once")[0] == 0
    assert set(kinds) == {"spark_jobs/", "pyspark.daemon", "SparkConnectServer"}, "the watch saw jobs and executors"
    assert not found
    assert files_with_the_canary(tmp_path, spark_server.directory) == []
    assert pages_with_the_canary(spark_server.pages) == []
    segments = list(tmp_path.rglob("*.parquet"))
    assert segments
    assert not [path for path in segments if CANARY in str(pq.read_table(path).to_pylist())]
    events = [path for path in (spark_server.directory / "events").rglob("*") if path.is_file()]
    assert any(b"SparkListenerJobStart" in path.read_bytes() for path in events)


def respell(name, **changed):
    def spoil(world):
        world.infos[name] = replace(world.infos[name], **changed)

    return spoil


def narrow(world):
    """A slave whose table does not take every row of the master's."""
    world.reader("zurich").execute("CREATE TABLE t (id int PRIMARY KEY, note text, CHECK (id < 100))")


def narrow_and_fed(world):
    narrow(world)
    world.master.execute("INSERT INTO t VALUES (1000, 'too many')")
    world.publish()


PUBLISH, DRAIN, DUMP = ("publish", "--once"), ("drain", "--slave", "zurich", "--once"), ("dump", "--slave", "zurich")
# What is wrong; the job, and how it ends.
FAILURES = {
    "source, wrong password": (respell("master", password=CANARY + "!"), PUBLISH, 3, "SLC-031"),
    "source, no TLS": (respell("master", extra={"sslmode": "require", "sslpassword": CANARY}), PUBLISH, 3, "SLC-311"),
    "store, wrong password": (respell("control", password=CANARY + "!"), PUBLISH, 3, "SLC-031: the control"),
    "slave, refused": (respell("zurich", port=9), DRAIN, 75, "SLC-030"),
    "slave, SQL error": (narrow_and_fed, DRAIN, 3, "violates check constraint"),
    "slave, SQL error in a Spark task": (narrow, DUMP, 3, "violates check constraint"),
}


@pytest.mark.full(but=["slave, SQL error in a Spark task"])
@pytest.mark.parametrize(("spoil", "words", "code", "told"), FAILURES.values(), ids=FAILURES)
def test_a_job_that_fails_repeats_no_password(world, job, spark_server, tmp_path, spoil, words, code, told):
    spoil(world)
    if words == DUMP:
        world.inhibit("zurich")
    with watched() as (_, found):
        ended, said = job(*words)
    assert (ended, told in said) == (code, True), said
    assert not found
    assert CANARY not in said
    assert files_with_the_canary(tmp_path, spark_server.directory) == []
    assert pages_with_the_canary(spark_server.pages) == []


def test_the_watch_and_the_search_would_find_it(tmp_path):
    with watched() as (_, found):
        subprocess.run([sys.executable, "-c", "import time; time.sleep(1)", CANARY], timeout=30)
        subprocess.run([sys.executable, "-c", "import time; time.sleep(1)"], env={"A": CANARY}, timeout=30)
    assert len(found) == 2
    (tmp_path / "file").write_bytes(b"x" + FORMS[1])
    assert files_with_the_canary(tmp_path) == [tmp_path / "file"]
