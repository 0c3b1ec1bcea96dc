"""The product as its users meet it: the launcher, Airflow, Spark, and databases that keep changing, all real."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from urllib.error import HTTPError
from urllib.parse import quote
from uuid import uuid4

import grpc
import psutil
import psycopg
import pytest
from pyspark.sql.connect.proto.base_pb2 import ConfigRequest
from pyspark.sql.connect.proto.base_pb2_grpc import SparkConnectServiceStub
from support.launcher import clean, ours, sluice, standing, wait_until

from sluice import paths
from sluice.airflow_api.client import AirflowApi
from sluice.cli import commands
from sluice.config import configuration
from sluice.connections import KEY_FILE_ENV, SEALED_ENV, ConnectionInfo
from sluice.runtime.handle import Runtime

pytestmark = [pytest.mark.slow, pytest.mark.airflow]
DRAIN = "/api/v2/dags/drain__flights__geneva"


def connections(runtime: Runtime) -> Mapping[str, ConnectionInfo]:
    """What Airflow hands to jobs, passwords and token included."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_FILE_ENV, runtime.airflow_environment()[KEY_FILE_ENV])
        patch.delenv(SEALED_ENV, raising=False)
        return commands._from_airflow(configuration.load()).connections


def test_the_demo_ends_with_two_slaves_that_equal_their_master(shown):
    assert shown.returncode == 0, shown.stdout + shown.stderr
    lines = shown.stdout.splitlines()
    for slave in ("zurich", "geneva"):
        (row,) = [line.split() for line in lines if line.startswith(slave)]
        assert row[1:4] == ["well", "NORMAL", "ACTIVE"]
        assert int(row[-2].replace(",", "")) > 300_000
        assert row[-1] == "0"
    assert "login admin" in shown.stdout
    carried = 2 if "--files" in shown.args else 0
    assert (shown.stdout + shown.stderr).count("Manual Data transfer: copying") == carried


def packages_of_status() -> set[str]:
    """The packages that `status` loads: what it takes is mostly their import."""
    program = "import sys; from sluice.cli.parser import main; main(['status']); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=clean(), check=True)
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


def test_the_line_that_changes_the_master_can_be_pasted_and_the_status_is_quick(shown, runtime):
    (line,) = [line for line in shown.stdout.splitlines() if line.startswith("Change something: ")]
    pasted = subprocess.run(line.partition(": ")[2], shell=True, capture_output=True, text=True, env=clean())
    assert pasted.stdout.strip() == "UPDATE 1", pasted.stderr
    looks = [line.partition(": ")[2] for line in shown.stdout.splitlines() if line.startswith("See it on ")]
    assert len(looks) == 2

    def seen(look: str) -> str:
        return subprocess.run(look, shell=True, capture_output=True, text=True, env=clean()).stdout

    wait_until(lambda: all("Sluice Air" in seen(look) for look in looks), "the change on both slaves")
    packages = packages_of_status()
    assert "sluice" in packages
    assert not packages & {"airflow", "pandas", "pyspark"}
    rows = json.loads(sluice("status", "--json").stdout)
    assert {row["slave"]: row["different"] for row in rows} == {"zurich": 0, "geneva": 0}


def test_no_minute_passes_in_silence(shown):
    stamps = [60 * int(minutes) + int(seconds) for minutes, seconds in re.findall(r"\[(\d+):(\d\d)\]", shown.stderr)]
    assert len(stamps) > 10
    assert all(later - earlier < 60 for earlier, later in pairwise(stamps) if later >= earlier)


def test_the_master_was_changed_all_the_while(shown):
    (counted,) = re.findall(r"committed ([\d,]+) transactions and rolled ([\d,]+) back", shown.stderr)
    committed, rolled_back = (int(text.replace(",", "")) for text in counted)
    assert committed > 500
    assert rolled_back > 0


def test_a_slave_with_another_schema_has_the_same_rows(runtime):
    counts = []
    for database, schema in (("master", "public"), ("zurich", "public"), ("geneva", "branch")):
        with psycopg.connect(runtime.admin_dsn(database)) as session:
            query = f"SELECT count(*), sum(hashtext(f::text)) FROM {schema}.flights AS f"
            counts.append(session.execute(query).fetchone())
    assert counts[0] == counts[1] == counts[2]


def test_only_this_machine_can_reach_what_was_started(runtime, home):
    addresses = []
    for process in ours(home):
        with suppress(psutil.NoSuchProcess):
            found = process.net_connections("inet")
            addresses += [one.laddr.ip.removeprefix("::ffff:") for one in found if one.status == psutil.CONN_LISTEN]
    assert len(addresses) >= 3
    assert set(addresses) <= {"127.0.0.1", "::1"}


@pytest.mark.parametrize("token", ["", "wrong"])
def test_spark_serves_nobody_without_its_token(runtime, token):
    info = connections(runtime)["sluice_spark"]
    headers = [("authorization", f"Bearer {token}")] if token else []
    request = ConfigRequest(
        session_id=str(uuid4()), operation=ConfigRequest.Operation(get=ConfigRequest.Get(keys=["spark.app.name"]))
    )
    with grpc.insecure_channel(f"127.0.0.1:{info.port}") as channel, pytest.raises(grpc.RpcError) as refused:
        SparkConnectServiceStub(channel).Config(request, metadata=headers, timeout=30)
    assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED


def test_no_password_is_in_what_airflow_keeps_of_its_tasks(runtime, home, api):
    secrets = {info.password for info in connections(runtime).values() if info.password}
    assert len(secrets) >= 5
    kept: list[str] = []
    told: list[str] = []
    for dag in ("initial_update", "verify", "drain__flights__geneva", "publish__flights"):
        runs = api.ask(f"/api/v2/dags/{dag}/dagRuns/~/taskInstances?limit=100")
        assert runs["total_entries"]
        assert any(one["rendered_fields"] for one in runs["task_instances"])
        kept.append(json.dumps(runs))
        for run in runs["task_instances"]:
            place = f"/api/v2/dags/{dag}/dagRuns/{quote(run['dag_run_id'])}/taskInstances/{run['task_id']}"
            with suppress(HTTPError):
                told.append(json.dumps(api.ask(f"{place}/xcomEntries/return_value")))
    # A publisher or a drain may not have ended yet; the initial update has.
    assert all(any(result in text for text in told) for result in ("chunks", "released", "compared"))
    logs = [file for place in ("logs", "airflow/logs") for file in (home / place).rglob("*") if file.is_file()]
    assert any("drain" in str(file) for file in logs)
    kept += [file.read_text(encoding="utf-8", errors="replace") for file in logs]
    assert [secret for secret in secrets if any(secret in text for text in kept + told)] == []


def test_check_finds_nothing_wrong(runtime):
    checked = sluice("check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    subjects = ("control store", "Airflow's REST API", "Spark", "source flights", "slave zurich", "slave geneva")
    assert not [subject for subject in subjects if f"ok   {subject}" not in checked.stdout]


def test_a_run_that_was_waited_for_tells_what_it_found(runtime):
    waited = sluice("trigger", "verify", "source=flights", "slaves=zurich,geneva", "--wait")
    assert waited.returncode == 0, waited.stdout + waited.stderr
    found = re.findall(r"(zurich|geneva): ([\d,]+) rows compared, 0 different", waited.stdout)
    assert sorted(slave for slave, _ in found) == ["geneva", "zurich"]


def test_pausing_a_drain_is_standby_and_the_slave_catches_up_though_the_source_is_idle(runtime, api, monkeypatch):
    monkeypatch.setenv("USER", "otto")
    paused = sluice("pause", "flights", "geneva")
    assert "To go on, type: ./sluice unpause flights geneva" in paused.stdout, paused.stderr
    wait_until(lambda: "STANDBY (ADMIN)" in str(standing("geneva")["dispatcher"]), "the standby")
    # A run that is under way looks at the switch between two batches, and asks Airflow once in a while.
    working = f"{DRAIN}/dagRuns/~/taskInstances?state=running"
    wait_until(lambda: api.ask(working)["total_entries"] == 0, "the end of that run")
    with psycopg.connect(runtime.admin_dsn("master"), autocommit=True) as master:
        master.execute("INSERT INTO airlines (carrier, name) VALUES ('ZZ', 'Standby Air')")
    wait_until(lambda: standing("zurich")["holdback"] == 0 and arrived(runtime, "zurich", "public"), "the other slave")
    held = standing("geneva")
    assert held["holdback"]
    assert not arrived(runtime, "geneva", "branch")
    wait_until(lambda: "otto" in str(standing("geneva")["why"]), "the record of who paused it")
    assert "HINT: to go on, type: ./sluice unpause flights geneva" in str(standing("geneva")["why"])
    assert sluice("unpause", "flights", "geneva").returncode == 0
    wait_until(lambda: arrived(runtime, "geneva", "branch"), "catching up", seconds=180)
    wait_until(lambda: standing("geneva")["dispatcher"] == "ACTIVE", "the gate open again")


def arrived(runtime: Runtime, database: str, schema: str) -> bool:
    with psycopg.connect(runtime.admin_dsn(database)) as session:
        return bool(session.execute(f"SELECT 1 FROM {schema}.airlines WHERE carrier = 'ZZ'").fetchone())


@pytest.mark.full
def test_a_command_that_a_slave_asks_about_is_decided_in_airflow_and_the_slave_goes_on(runtime, api):
    def founded(database: str, schema: str) -> list[tuple[int]]:
        query = f"SELECT (to_jsonb(a) ->> 'founded')::int FROM {schema}.airlines AS a WHERE carrier = 'AA'"
        with psycopg.connect(runtime.admin_dsn(database)) as session:
            return session.execute(query).fetchall()

    with psycopg.connect(runtime.admin_dsn("master"), autocommit=True) as master:
        master.execute("ALTER TABLE airlines ADD founded integer DEFAULT 1930")
    runs = "/api/v2/dags/decide/dagRuns"

    def asked() -> list[str]:
        found = [str(run["dag_run_id"]) for run in api.ask(runs)["dag_runs"]]
        return [run for run in found if run.startswith("flights__geneva__")]

    wait_until(lambda: bool(asked()), "the question")
    (run,) = asked()
    waiting = "/api/v2/dags/~/dagRuns/~/hitlDetails?response_received=false"
    wait_until(lambda: api.ask(waiting)["total_entries"] == 1, "somebody being asked")
    (detail,) = api.ask(waiting)["hitl_details"]
    assert detail["subject"] == "ALTER of branch.airlines on geneva"
    assert "founded" in detail["body"]
    wait_until(lambda: founded("zurich", "public") == [(1930,)], "the other slave")
    assert founded("geneva", "branch") == [(None,)]
    answer(api, f"{runs}/{quote(run)}/taskInstances/answer", "Approve")
    wait_until(lambda: founded("geneva", "branch") == [(1930,)], "the ALTER", seconds=180)
    wait_until(lambda: standing("geneva")["dispatcher"] == "ACTIVE", "the gate open again")
    wait_until(lambda: api.ask(f"{runs}/{quote(run)}")["state"] == "success", "the end of its run")


def answer(api: AirflowApi, task: str, option: str) -> None:
    """Answer what a task asks, as a person does."""
    wait_until(lambda: api.ask(task)["state"] == "awaiting_input", "the task that lets go of its slot", seconds=240)
    # No person is faster than that, and Airflow's executor does not take a task back while it still lets go of it.
    time.sleep(3)

    def answered() -> bool:
        state = api.ask(task)["state"]
        # On a busy machine that takes longer: Airflow then takes the task for lost, and asks again.
        if state == "awaiting_input":
            with suppress(HTTPError):
                api.ask(f"{task}/-1/hitlDetails", "PATCH", {"chosen_options": [option]})
        return state in ("success", "skipped")

    wait_until(answered, "the answer", seconds=240)


@pytest.mark.full
def test_a_slave_whose_files_were_carried_goes_on_when_an_administrator_says_so(runtime, api, home):
    file = home / "replication.yaml"
    before = file.read_text()
    asking = "{location: initial_files/geneva, reactivation: approval}"
    file.write_text(before.replace("{location: initial_files/geneva}", asking))

    def ended(dag: str, run: str) -> str:
        wait_until(
            lambda: api.ask(f"/api/v2/dags/{dag}/dagRuns/{quote(run)}")["state"] in ("success", "failed"), run, 240
        )
        tasks = api.ask(f"/api/v2/dags/{dag}/dagRuns/{quote(run)}/taskInstances")["task_instances"]
        return next(task["state"] for task in tasks if task["task_id"] == "release")

    def received(option: str) -> tuple[str, str]:
        run = runtime.context().dags().trigger("receive_initial_files", {"source": "flights", "slave": "geneva"})
        answer(api, f"/api/v2/dags/receive_initial_files/dagRuns/{quote(run)}/taskInstances/approve", option)
        return run, ended("receive_initial_files", run)

    def loaded(run: str) -> dict[str, object]:
        place = f"/api/v2/dags/receive_initial_files/dagRuns/{quote(run)}/taskInstances/receive"
        return dict(api.ask(f"{place}/xcomEntries/return_value?deserialize=true")["value"])

    stored = {"source": "flights", "slaves": ["geneva"], "store_initial_data": True}
    assert ended("initial_update", runtime.context().dags().trigger("initial_update", stored)) == "success"
    directory = max((home / "initial_files" / "flights").iterdir(), key=lambda stored: stored.stat().st_mtime)
    shutil.copytree(directory, home / "initial_files" / "geneva" / directory.name)
    run, release = received("Leave it waiting")
    assert (release, bool(loaded(run)["chunks"])) == ("skipped", True)
    left = standing("geneva")
    assert (left["status"], left["dispatcher"]) == ("TRANSITION", "STANDBY (INITIAL)")
    assert "Manual Data transfer: LOADED" in str(left["why"])
    run, release = received("Release")
    assert (release, loaded(run)["chunks"]) == ("success", 0)
    now = standing("geneva")
    assert (now["status"], now["dispatcher"], now["different"]) == ("NORMAL", "ACTIVE", 0)
    file.write_text(before)


@pytest.mark.full
def test_an_update_is_cancelled_at_once_while_all_bulk_slots_are_taken(runtime, api):
    pool = "/api/v2/pools/sluice_bulk"
    before = api.ask(pool)["slots"]

    def give(slots: int) -> None:
        api.ask(pool, "PATCH", {"pool": "sluice_bulk", "slots": slots, "include_deferred": False})

    def state(dag: str, run: str, task: str) -> str | None:
        return api.ask(f"/api/v2/dags/{dag}/dagRuns/{quote(run)}/taskInstances/{task}")["state"]

    paused = sluice("pause", "flights", "geneva")
    assert "To go on, type: ./sluice unpause flights geneva" in paused.stdout, paused.stderr
    wait_until(lambda: "STANDBY (ADMIN)" in str(standing("geneva")["dispatcher"]), "the standby")
    with psycopg.connect(runtime.admin_dsn("master"), autocommit=True) as master:
        master.execute("UPDATE airlines SET name = name || '.' WHERE carrier = 'AA'")
    # One slot is easier filled than two: by a comparison that waits for a slave which does not come.
    give(1)
    try:
        verifying = runtime.context().dags().trigger("verify", {"source": "flights", "slaves": ["geneva"]})
        wait_until(lambda: state("verify", verifying, "verify") == "running", "the comparison")
        update = runtime.context().dags().trigger("initial_update", {"source": "flights", "slaves": ["zurich"]})
        wait_until(lambda: state("initial_update", update, "dump") == "scheduled", "the dump that waits for a slot")
        assert api.ask(pool)["open_slots"] == 0
        runtime.context().dags().trigger("cancel_update", {"source": "flights", "slaves": ["zurich"]})
        wait_until(lambda: standing("zurich")["status"] == "INCONSISTENT", "the cancellation", seconds=240)
        run = f"/api/v2/dags/initial_update/dagRuns/{quote(update)}"
        wait_until(lambda: api.ask(run)["state"] == "failed", "the end of its run", seconds=240)
        assert state("verify", verifying, "verify") == "running", "there was a slot"
        drain = "drain__flights__zurich"
        drained = runtime.context().dags().trigger(drain, {})
        wait_until(lambda: state(drain, drained, "drain") == "skipped", "a drain that does not look busy", seconds=240)
        note = api.ask(f"/api/v2/dags/{drain}/dagRuns/{quote(drained)}")["note"]
        assert note.startswith("INCONSISTENT, STANDBY (INCONSISTENT): ")
        assert "by admin: cancelled" in note
    finally:
        give(before)
        api.ask(DRAIN, "PATCH", {"is_paused": False})
    wait_until(lambda: state("verify", verifying, "verify") == "success", "the comparison of a slave that came", 240)
    runtime.context().dags().trigger("initial_update", {"source": "flights", "slaves": ["zurich"]})
    wait_until(lambda: standing("zurich")["status"] == "NORMAL", "an update that nobody cancels", 240)


def test_a_second_up_is_quick_and_changes_nothing(runtime, home):
    before = ours(home)
    again = sluice("up")
    assert again.returncode == 0, again.stderr
    lasting = {one for one in before if re.search("api-server|scheduler", " ".join(one.info["cmdline"] or []))}
    assert lasting
    assert lasting <= set(ours(home))


@pytest.mark.full
@pytest.mark.ends_the_demo
def test_down_leaves_nothing_behind_and_a_killed_demo_can_be_started_again(runtime, home):
    command = [str(paths.PROJECT / "sluice"), "demo"]
    with subprocess.Popen(command, env=clean(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as demo:
        time.sleep(10)
        demo.kill()
    down = sluice("down")
    assert down.returncode == 0, down.stderr
    wait_until(lambda: not ours(home), "the end of every process", seconds=30)
    once = sluice("demo", "--once")
    assert once.returncode == 0, once.stdout + once.stderr
    assert "Manual Data transfer" not in once.stdout + once.stderr
    wait_until(lambda: not ours(home), "the end of every process", seconds=30)
