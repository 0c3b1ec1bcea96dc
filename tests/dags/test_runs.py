"""Whole runs of the DAGs on Airflow's own database, with fake jobs: how they end, and what they emit."""

from __future__ import annotations

import os
import subprocess
import sys
from threading import Event, Thread

import pytest

from sluice.connections import open_sealed
from sluice_airflow.operator import SluiceSparkOperator

pytestmark = [pytest.mark.airflow, pytest.mark.slow]
CANARY = "canary-5f3a9c-password"
GOOD = 'print(\'{"transactions": 1, "update": 7}\')'
IDLE = "print('{\"transactions\": 0}')"
SHUT = 'print(\'{"idle": "the replication is INCONSISTENT"}\')'
TERMINAL = "import sys; print('SLC-041: no', file=sys.stderr); sys.exit(3)"


@pytest.fixture(scope="module")
def database(bag):
    """Airflow's own, which has our DAGs: a run neither reads their files nor writes them down once more."""
    from airflow.dag_processing.bundles.manager import DagBundlesManager
    from airflow.dag_processing.dagbag import sync_bag_to_db
    from airflow.utils import db

    db.initdb()
    DagBundlesManager().sync_bundles_to_db()
    sync_bag_to_db(bag, "dags-folder", None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("airflow.dag_processing.dagbag.BundleDagBag", lambda **_: None)
        patch.setattr("airflow.dag_processing.dagbag.sync_bag_to_db", lambda *_: None)
        yield


@pytest.fixture
def run(database, bag, deployment):
    """Run a DAG to its end; jobs that are not mentioned succeed."""

    def run(dag_id: str, conf: dict[str, object] | None = None, **jobs: str):
        dag = bag.dags[dag_id]
        picked = {"slave": "zurich", "slaves": ["zurich"], "change": 1}
        conf = {name: value for name, value in picked.items() if name in dag.params} | (conf or {})
        for task in dag.tasks:
            if isinstance(task, SluiceSparkOperator):
                (deployment.jobs / f"{task.job}.py").write_text(jobs.get(task.job, GOOD))
        dag_run = dag.test(run_conf=conf)
        return dag_run.state, {ti.task_id: ti.state for ti in dag_run.get_task_instances()}

    return run


def asset_events() -> int:
    from airflow.models.asset import AssetEvent
    from airflow.utils.session import create_session
    from sqlalchemy import func, select

    with create_session() as session:
        return session.scalar(select(func.count()).select_from(AssetEvent))


@pytest.mark.full
def test_an_initial_update_that_works_abandons_nothing(run):
    state, tasks = run("initial_update")
    assert state == "success"
    ended = dict.fromkeys(["inhibit", "dump", "release", "verify", "finished"], "success")
    assert tasks == ended | {"blocks": "skipped", "abandon": "skipped"}


def test_the_comparison_is_told_which_update_may_end_with_it(run, deployment):
    said = deployment.path / "said"
    noted = f"import sys; open({str(said)!r}, 'w').write(str(sys.argv)); {GOOD}"
    assert run("initial_update", verify=noted)[0] == "success"
    assert "'--initial', '--update=7'" in said.read_text()


@pytest.mark.full
@pytest.mark.parametrize("failing", ["inhibit", "dump", "release", "blocks", "verify"])
def test_an_initial_update_that_fails_is_abandoned_and_failed(run, deployment, failing):
    said = deployment.path / "said"
    noted = f"import sys; open({str(said)!r}, 'w').write(str(sys.argv)); {GOOD}"
    state, tasks = run("initial_update", {"mode": "online"}, **{failing: TERMINAL}, abandon=noted)
    assert state == "failed"
    assert "'--why=SLC-041: no'" in said.read_text(), "the audit trail has the reason"
    assert (tasks[failing], tasks["abandon"], tasks["finished"]) == ("failed", "success", "upstream_failed")


@pytest.mark.full(but=["cancel_update-conf1"])
@pytest.mark.parametrize(
    ("dag_id", "conf"), [("initial_update", {"slave": ["zurich"]}), ("cancel_update", {"slave": "zurich"})]
)
def test_a_choice_that_a_form_has_not_is_refused_and_nothing_else_is_taken_for_it(run, dag_id, conf):
    state, tasks = run(dag_id, conf, **dict.fromkeys(["inhibit", "cancel", "abandon"], GOOD))
    assert state == "failed"
    assert not [task for task, ended in tasks.items() if ended == "success"]


def test_an_event_is_emitted_only_for_something_new(run):
    before = asset_events()
    assert run("publish__flights", publish=IDLE)[0] == "success"
    assert asset_events() == before
    assert run("publish__flights", publish=GOOD)[0] == "success"
    assert asset_events() == before + 1


@pytest.mark.parametrize(
    ("job", "ended"),
    [
        pytest.param(TERMINAL, ("failed", {"drain": "failed"}), id="terminal"),
        pytest.param(SHUT, ("success", {"drain": "skipped"}), id="shut"),
    ],
)
def test_a_drain_fails_at_once_of_a_terminal_error_and_is_skipped_at_a_shut_gate(run, job, ended):
    assert run("drain__flights__zurich", drain=job) == ended


QUESTION = """print('{"subject": "DROP of public.t on zurich", "body": "* the table"}')"""


@pytest.fixture
def eva(address, connect):
    """Answers the next question, as the page does for her."""
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
    from airflow.api_fastapi.core_api.datamodels.hitl import UpdateHITLDetailPayload
    from airflow.api_fastapi.core_api.routes.public.hitl import update_hitl_detail
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.session import create_session
    from sqlalchemy import select

    waiting = select(TaskInstance).where(TaskInstance.state == "awaiting_input")
    over = Event()
    connect("test_airflow_api", conn_type="http", host="127.0.0.1", port=address, login="admin", password=CANARY)

    def answer(option: str) -> None:
        while not over.wait(0.2):
            with create_session() as session:
                if asked := session.scalar(waiting):
                    which = (asked.dag_id, asked.run_id, asked.task_id)
                    user = SimpleAuthManagerUser(username="eva", role="user")
                    return update_hitl_detail(*which, UpdateHITLDetailPayload(chosen_options=[option]), user, session)

    started = []

    def answers(option: str) -> None:
        started.append(Thread(target=answer, args=[option]))
        started[0].start()

    yield answers
    over.set()
    started[0].join()


@pytest.mark.full
def test_what_a_person_answers_reaches_the_job_with_the_name_of_who_said_so(run, deployment, eva):
    said = deployment.path / "said"
    noted = f"import sys; open({str(said)!r}, 'w').write(str(sys.argv)); {GOOD}"
    eva("Reject")
    state, tasks = run("decide", question=QUESTION, decide=noted)
    assert (state, tasks) == ("success", dict.fromkeys(["question", "answer", "decide"], "success"))
    assert "'--answer=Reject', '--who=eva'" in said.read_text()


def test_what_a_person_allows_is_what_was_shown(run, deployment, eva):
    said = deployment.path / "said"
    noted = f"import sys; open({str(said)!r}, 'w').write(str(sys.argv)); {GOOD}"
    eva("Approve")
    shown = QUESTION.replace("{", '{"shown": "sha256:07", ', 1)
    state, tasks = run("approve_losses", {"refused": 7}, losses=shown, allow=noted)
    assert (state, tasks) == ("success", dict.fromkeys(["losses", "answer", "allow"], "success"))
    assert "'--refused=7', '--shown=sha256:07', '--answer=Approve', '--who=eva'" in said.read_text()


@pytest.fixture
def receive(run, deployment):
    """A run for files that are there: how it and its tasks end, and what `release` was told, if it ran."""
    there = f"""print('{{"url": "{deployment.path / "home" / "initial_files" / "x"}", "files": 0, "quiet_s": 0}}')"""
    said = deployment.path / "said"
    noted = f"import sys; open({str(said)!r}, 'w').write(str(sys.argv)); {GOOD}"

    def receive(ask: str):
        loaded = f"""print('{{"update": 7, "ask": {ask}, "subject": "Let it go on", "body": "* rows: 12"}}')"""
        state, tasks = run("receive_initial_files", expected=there, receive=loaded, release=noted)
        return state, tasks, said.read_text() if said.exists() else ""

    return receive


@pytest.mark.full
def test_files_that_are_loaded_are_released_at_once_unless_somebody_is_to_be_asked(receive):
    state, tasks, said = receive("false")
    assert (state, set(tasks.values()), len(tasks)) == ("success", {"success"}, 7)
    assert "'--approved=7'" in said
    assert "--who" not in said


@pytest.mark.full
def test_an_administrator_releases_a_slave_whose_files_are_loaded(receive, eva):
    eva("Release")
    state, tasks, said = receive("true")
    assert (state, set(tasks.values())) == ("success", {"success"})
    assert "'--approved=7', '--answer=Release', '--who=eva'" in said


@pytest.mark.full
def test_a_slave_that_an_administrator_leaves_waiting_is_not_released_and_not_compared(receive, eva):
    eva("Leave it waiting")
    state, tasks, said = receive("true")
    left = {name: "skipped" if name in ("release", "verify", "finished") else "success" for name in tasks}
    assert (state, tasks, said) == ("success", left, "")


@pytest.mark.full
def test_sealing_outside_of_a_task_reads_airflows_database(database, deployment):
    from airflow.models import Connection
    from airflow.utils.session import create_session

    with create_session() as session:
        session.add(Connection(conn_id="kept", conn_type="postgres", login="u", password="canary-in-the-database"))
    done = subprocess.run(
        [sys.executable, "-m", "sluice_airflow.sealing", "kept"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "canary" not in done.stdout + done.stderr
    assert open_sealed(done.stdout.strip())["kept"].password == "canary-in-the-database"


def test_no_password_is_in_what_airflow_keeps_of_runs_that_fail(run, connect, capfd):
    """In no table but that of connections: rendered templates, results, errors, notes, DAGs; and in no task's log."""
    from airflow.models import Base
    from airflow.utils.session import create_session
    from sqlalchemy import select

    connect("test_spark", conn_type="spark_connect", host="127.0.0.1", port=15002, password=CANARY)
    assert run("initial_update", dump=TERMINAL)[0] == "failed"
    assert run("drain__flights__zurich", drain=TERMINAL)[0] == "failed"
    with create_session() as session:
        tables = {name: table for name, table in Base.metadata.tables.items() if name != "connection"}
        kept = {name: str(session.execute(select(table)).all()) for name, table in tables.items()}
    assert "zurich" in kept["rendered_task_instance_fields"]
    assert "SLC-041" in kept["xcom"]
    assert [name for name, rows in kept.items() if CANARY in rows] == []
    said = "".join(capfd.readouterr())
    assert "SLC-041" in said
    assert CANARY not in said
