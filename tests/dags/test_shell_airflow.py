"""What `./sluice` has Airflow do, asked of Airflow's own API server."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from airflow.api.common.trigger_dag import trigger_dag
from airflow.utils.types import DagRunTriggeredByType

from sluice.airflow_api.client import AirflowApi, dag_run
from sluice.airflow_api.runs import Runs
from sluice.config import configuration
from sluice.connections import SEALED_ENV, ConnectionInfo, seal
from sluice.context import Context
from sluice.errors import ConfigError
from sluice.model.requester import Requester
from sluice.monitor import check
from sluice_airflow import requesters

pytestmark = [pytest.mark.airflow, pytest.mark.slow]
CANARY = "canary-5f3a9c-password"


@pytest.mark.full
def test_the_form_offers_the_connection_types_of_sluice_with_their_fields(address):
    api = AirflowApi(ConnectionInfo("http", "127.0.0.1", address, "http", "admin", CANARY))
    offered = {one["connection_type"]: one for one in api.ask("/ui/connections/hook_meta")}
    assert offered.keys() >= {"postgres", "mysql", "oracle", "http", "spark", "spark_connect", "fs"}
    assert offered["postgres"]["hook_name"] == "Postgres"
    assert offered["postgres"]["standard_fields"]["url_schema"]["title"] == "Database"
    assert offered["http"]["standard_fields"]["url_schema"]["title"] == "Schema (http or https)"


def requester(name: str | None, run: str = "r"):
    return requesters.for_run({"dag_run": SimpleNamespace(triggering_user_name=name, dag_id="verify", run_id=run)})


@pytest.mark.full
def test_a_command_knows_the_roles_of_whoever_triggered_it(sluice):
    assert requester(None) is None, "no person triggered it"
    assert requester("admin") is None, "our own jobs did"
    assert requester("otto") == Requester("otto", ["op"])
    assert requester("eva") == Requester("eva", ["user"])
    # Airflow has no such user: was it somebody who may use its command line?
    told = sluice("trigger", "verify", "source=flights", "slaves=zurich")[1]
    assert requester("root", told.removeprefix("triggered: ").strip()) == Requester("root", [])
    by_command = trigger_dag("verify", triggered_by=DagRunTriggeredByType.CLI, conf={"slaves": ["zurich"]})
    assert requester("root", by_command.run_id) is None


def test_roles_that_nobody_knows_are_refused(sluice, monkeypatch):
    monkeypatch.setenv("AIRFLOW__CORE__AUTH_MANAGER", "some.OtherAuthManager")
    with pytest.raises(ConfigError, match="SLC-301: the roles of eva are not known") as refused:
        requester("eva")
    assert "command_roles: airflow" in refused.value.hint


def test_a_run_that_is_asked_for_is_begun_once_whoever_has_its_id_already(people):
    ours, hers = ({"source": "flights", "slaves": [slave]} for slave in ("zurich", "geneva"))
    begun = "/api/v2/dags/verify/dagRuns"
    people["eva"].ask(begun, "POST", dag_run("after__flights__zurich__8", ours))
    people["admin"].ask(begun, "POST", dag_run("after__flights__zurich__8__2", hers))
    runs = Runs(people["admin"], lambda name: name)
    asked = [
        runs.ask_for("verify", run, ours) for run in ("after__flights__zurich__8", "after__flights__zurich__9") * 2
    ]
    assert asked == ["after__flights__zurich__8__3", "after__flights__zurich__9"] * 2
    found = people["admin"].ask(f"{begun}?run_id_prefix_pattern=after__")["dag_runs"]
    assert {one["dag_run_id"]: one["triggering_user_name"] for one in found} == {
        "after__flights__zurich__8": "eva",
        "after__flights__zurich__8__2": "admin",
        "after__flights__zurich__8__3": "admin",
        "after__flights__zurich__9": "admin",
    }


@pytest.fixture
def store(sluice, server, address, monkeypatch):
    """A control store, for commands that write there."""
    api = ConnectionInfo("http", "127.0.0.1", address, login="admin", password=CANARY)
    made = server.create_store()
    monkeypatch.setenv(SEALED_ENV, seal({"test_airflow_api": api, "test_control": made}))
    monkeypatch.setenv("USER", "eva")
    yield server.connect(made)
    server.drop_databases([made])


@pytest.mark.postgres
def test_pausing_names_the_way_back(sluice, store):
    code, said = sluice("pause", "flights", "zurich", "geneva")
    assert code == 0
    assert "paused: drain__flights__zurich; the change log keeps everything for it" in said
    assert said.rstrip().endswith("type: ./sluice unpause flights geneva")
    assert "publish__flights; changes wait in ITEMS" in sluice("pause", "flights", "--publish")[1]
    assert sluice("unpause", "flights", "--publish") == (0, "unpaused: publish__flights\n")
    assert store.execute("SELECT slave, kind, actor FROM hold ORDER BY slave").fetchall() == [
        ("geneva", "ADMIN", "eva"),
        ("zurich", "ADMIN", "eva"),
    ]
    assert sluice("unpause", "flights", "zurich") == (0, "unpaused: drain__flights__zurich\n")
    assert store.execute("SELECT slave FROM hold").fetchall() == [("geneva",)]
    store.execute("INSERT INTO replication VALUES ('flights', 'zurich', 'INITIAL')")
    assert "SLC-020" in sluice("pause", "flights", "zurich")[1]


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["pause", "flights"], "SLC-914: it is not said which DAG is meant"),
        (["pause", "flights", "zurich", "--all"], "SLC-914: it is not said which DAG is meant, or"),
        (["pause", "flights", "bern"], "SLC-003: no replication of source flights to slave bern"),
        (["pause", "flights", "zurch"], "HINT: did you mean zurich?"),
        (["pause", "fligths", "zurich"], "HINT: did you mean flights?"),
        (["trigger", "verify", "slave=zurich"], "SLC-914: 'slave=zurich' is no choice of verify"),
        (["trigger", "verify", "sample=most"], "SLC-914: 'sample=most' is no choice of verify"),
        (["trigger", "verify", "slaves=zurich", "sample=101"], "SLC-915: Airflow refused a run of verify: "),
        (
            ["trigger", "verify", "slaves=zurch"],
            "'zurch' is not one of ['zurich', 'geneva']\nHINT: nothing was changed; type "
            "./sluice trigger verify NAME=VALUE ..., with these names: source (flights), slaves (zurich, geneva)",
        ),
        (["trigger", "verify"], "Invalid input for param slaves"),
        (["trigger", "verify", "sample=" + "[" * 100_000], "SLC-914: 'sample=[[["),
        (["trigger", "verify", "--conf", "[" * 100_000], "SLC-914: no choice of verify can be read in '[[["),
        (["trigger", "verify", "--conf", "[1]"], "SLC-914: no choice of verify can be read in '[1]'"),
        (["trigger", "verfy"], "SLC-003: Airflow knows no DAG verfy\nHINT: name one of these: administer, "),
        (["trigger", "drain__flights__zurich"], "SLC-919: drain__flights__zurich is paused: its runs would wait"),
    ],
    ids=[
        "no DAG",
        "all and one",
        "no slave",
        "a slave misspelt",
        "a source misspelt",
        "no name",
        "no number",
        "a value",
        "a choice misspelt",
        "a choice missing",
        "a value nested without end",
        "an object nested without end",
        "no object",
        "unknown DAG",
        "paused DAG",
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_changed(sluice, admin, words, fault):
    AirflowApi(admin).ask("/api/v2/dags/drain__flights__zurich", "PATCH", {"is_paused": True})
    code, said = sluice(*words)
    assert (code, fault in said) == (1, True), said


def test_what_a_first_update_needs_is_unpaused_by_a_line_of_check_and_of_the_hint(sluice, admin):
    api, settings = AirflowApi(admin), configuration.load()
    update, publish, *drains = dags = ["initial_update", "publish__flights", *settings.dags_of("flights")[1:3]]
    for dag in dags:
        api.ask(f"/api/v2/dags/{dag}", "PATCH", {"is_paused": True})
    try:
        code, said = sluice("trigger", "initial_update", "source=flights", "slaves=zurich")
        every, *updates = check.first_steps(Context(settings, {settings.airflow_api: admin}))
    finally:
        for dag in dags:
            api.ask(f"/api/v2/dags/{dag}", "PATCH", {"is_paused": False})
    line = "./sluice airflow dags unpause --treat-dag-id-as-regex '^({})$' --yes"
    assert (code, "SLC-919: initial_update is paused" in said) == (1, True)
    assert said.rstrip().endswith(f"type: {line.format(f'{update}|{publish}|drain__flights__zurich')}")
    assert every == line.format("|".join([update, publish, *drains]))
    assert updates == ["./sluice trigger initial_update source=flights slaves=zurich,geneva"]


def test_a_triggered_run_has_the_choices_as_the_form_would_give_them(sluice):
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session
    from sqlalchemy import select

    code, said = sluice("trigger", "verify", "slaves=zurich,geneva", "sample=10", "--conf", '{"source": "flights"}')
    assert code == 0
    with create_session() as session:
        run = session.scalar(select(DagRun).where(DagRun.run_id == said.removeprefix("triggered: ").strip()))
        assert run.conf == {"source": "flights", "slaves": ["zurich", "geneva"], "sample": 10}


def test_a_dag_file_that_cannot_be_read_is_named_by_its_error(sluice):
    from airflow.models.errors import ParseImportError
    from airflow.utils.session import create_session

    trace = "Traceback:\nsluice.errors.ConfigError: SLC-002: the file is broken\nHINT: fix it"
    with create_session() as session:
        broken = {
            "filename": "dags/sluice_replication.py",
            "bundle_name": "dags-folder",
            "timestamp": datetime.now(UTC),
        }
        session.add(ParseImportError(**broken, stacktrace=trace))
    said = sluice("trigger", "verfy")[1]
    assert "SLC-003: Airflow knows no DAG verfy. A DAG file cannot be read: SLC-002: the file is broken" in said


@pytest.mark.full
def test_airflows_own_command_line_runs_where_our_airflow_is(sluice, deployment):
    words = ["sluice.cli", "airflow", "dags", "list", "--output", "plain"]
    said = subprocess.run([sys.executable, "-m", *words], env=dict(os.environ), capture_output=True, text=True)
    assert "drain__flights__zurich" in said.stdout, said.stderr


def test_without_any_airflow_it_is_said_that_nothing_runs(sluice, monkeypatch, tmp_path):
    for name in [name for name in os.environ if name.startswith("AIRFLOW")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(SEALED_ENV)
    for words in (["airflow", "version"], ["status"], ["check"], ["pause", "flights", "zurich"]):
        code, said = sluice(*words)
        assert (code, "SLC-912: Sluice is not running" in said, "./sluice up" in said) == (1, True, True), words
