"""The product as its users meet it: the launcher, Airflow, Spark, and databases that keep changing, all real."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from sluice import config
from sluice.control.airflow_api import AirflowApi
from sluice.runtime.handle import Runtime
from sluice.runtime.up import running

pytestmark = [pytest.mark.slow, pytest.mark.airflow]
DRAIN = "/api/v2/dags/drain__flights__geneva"


def sluice(*words: str, seconds: int = 600) -> subprocess.CompletedProcess[str]:
    """One command of the launcher, as a user types it."""
    command = [str(config.PROJECT / "sluice"), *words]
    return subprocess.run(command, env=clean(), capture_output=True, text=True, timeout=seconds, check=False)


def clean() -> dict[str, str]:
    """The environment without what other rings set for themselves."""
    gone = ("AIRFLOW", "PYSPARK", "SPARK", "PYTHONPATH", "SLUICE_CONFIG", "SLUICE_SEAL", "JAVA_HOME")
    return {name: value for name, value in os.environ.items() if not name.startswith(gone)}


def ours(home: Path) -> list[str]:
    """Command lines of the processes that belong to this home."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("SLUICE_RUNTIME", "").startswith(str(home)):
                found.append(" ".join(process.cmdline()))
        except (psutil.Error, OSError):
            continue
    return found


def wait_until(true: Callable[[], bool], what: str, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds} s"
        time.sleep(0.5)


def standing(slave: str) -> dict[str, object]:
    rows = json.loads(sluice("status", "--json").stdout)
    return next(row for row in rows if row["slave"] == slave)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("home")
    patch = pytest.MonkeyPatch()
    patch.setenv("SLUICE_HOME", str(home))
    yield home
    sluice("down")
    patch.undo()


@pytest.fixture(scope="module")
def shown(home: Path) -> subprocess.CompletedProcess[str]:
    """The demo, which stays up."""
    return sluice("demo")


@pytest.fixture
def runtime(shown: subprocess.CompletedProcess[str]) -> Runtime:
    assert shown.returncode == 0, shown.stdout + shown.stderr
    found = running()
    assert found is not None
    return found


@pytest.fixture
def api(runtime: Runtime) -> AirflowApi:
    return AirflowApi(runtime.connections()["sluice_airflow_api"])


def test_the_demo_ends_with_two_slaves_that_equal_their_master(shown):
    assert shown.returncode == 0, shown.stdout + shown.stderr
    lines = shown.stdout.splitlines()
    for slave in ("zurich", "geneva"):
        (row,) = [line.split() for line in lines if line.startswith(slave)]
        assert row[1:3] == ["NORMAL", "ACTIVE"]
        assert int(row[-2].replace(",", "")) > 300_000
        assert row[-1] == "0"
    assert "login admin" in shown.stdout


def test_progress_is_shown_all_along(shown):
    assert len(shown.stderr.splitlines()) > 10


def test_a_slave_with_another_schema_has_the_same_rows(runtime):
    counts = []
    for database, schema in (("master", "public"), ("zurich", "public"), ("geneva", "branch")):
        with psycopg.connect(runtime.admin_dsn(database)) as session:
            query = f"SELECT count(*), sum(hashtext(f::text)) FROM {schema}.flights AS f"
            counts.append(session.execute(query).fetchone())
    assert counts[0] == counts[1] == counts[2]


def test_check_finds_nothing_wrong(runtime):
    checked = sluice("check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert checked.stdout.count("ok ") == 5


def test_pausing_a_drain_is_standby_and_the_slave_catches_up_though_the_source_is_idle(runtime, api):
    api.ask(DRAIN, "PATCH", {"is_paused": True})
    wait_until(lambda: "STANDBY (ADMIN)" in str(standing("geneva")["dispatcher"]), "the standby")
    with psycopg.connect(runtime.admin_dsn("master"), autocommit=True) as master:
        master.execute("INSERT INTO airlines (carrier, name) VALUES ('ZZ', 'Standby Air')")
    wait_until(lambda: standing("zurich")["holdback"] == 0 and arrived(runtime, "zurich", "public"), "the other slave")
    held = standing("geneva")
    assert held["holdback"]
    assert not arrived(runtime, "geneva", "branch")
    wait_until(lambda: "admin" in str(standing("geneva")["why"]), "the record of who paused it")
    api.ask(DRAIN, "PATCH", {"is_paused": False})
    wait_until(lambda: arrived(runtime, "geneva", "branch"), "catching up", seconds=180)
    wait_until(lambda: standing("geneva")["dispatcher"] == "ACTIVE", "the gate open again")


def arrived(runtime: Runtime, database: str, schema: str) -> bool:
    with psycopg.connect(runtime.admin_dsn(database)) as session:
        return bool(session.execute(f"SELECT 1 FROM {schema}.airlines WHERE carrier = 'ZZ'").fetchone())


def running_runs(api: AirflowApi) -> list[str]:
    newest = api.ask(f"{DRAIN}/dagRuns?order_by=-run_after&limit=5")["dag_runs"]
    return [run["dag_run_id"] for run in newest if run["state"] == "running"]


def test_a_terminal_error_puts_one_slave_on_standby_and_unpausing_goes_on(runtime, api):
    with psycopg.connect(runtime.admin_dsn("geneva"), autocommit=True) as slave:
        slave.execute("ALTER TABLE branch.planes RENAME COLUMN seats TO places")
        with psycopg.connect(runtime.admin_dsn("master"), autocommit=True) as master:
            master.execute("UPDATE planes SET seats = seats + 1 WHERE tailnum = (SELECT min(tailnum) FROM planes)")
        wait_until(lambda: "EXCEPTION" in str(standing("geneva")["dispatcher"]), "the standby")
        assert "SLC-071" in str(standing("geneva")["why"])
        # Airflow pauses a DAG at the end of the run that failed; who unpauses it before is overruled.
        wait_until(lambda: api.ask(DRAIN)["is_paused"] and not running_runs(api), "the pause in the UI")
        assert standing("zurich")["dispatcher"] == "ACTIVE"
        slave.execute("ALTER TABLE branch.planes RENAME COLUMN places TO seats")
    api.ask(DRAIN, "PATCH", {"is_paused": False})
    wait_until(lambda: standing("geneva")["holdback"] == 0, "catching up", seconds=180)


def test_a_second_up_is_quick_and_changes_nothing(runtime, home):
    before = sorted(ours(home))
    again = sluice("up")
    assert again.returncode == 0, again.stderr
    assert {line for line in before if "api-server" in line or "scheduler" in line} <= set(ours(home))


def test_down_leaves_nothing_behind_and_a_killed_demo_can_be_started_again(runtime, home):
    command = [str(config.PROJECT / "sluice"), "demo"]
    with subprocess.Popen(command, env=clean(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as demo:
        time.sleep(10)
        demo.kill()
    down = sluice("down")
    assert down.returncode == 0, down.stderr
    wait_until(lambda: not ours(home), "the end of every process", seconds=30)
    once = sluice("demo", "--once")
    assert once.returncode == 0, once.stdout + once.stderr
    wait_until(lambda: not ours(home), "the end of every process", seconds=30)
