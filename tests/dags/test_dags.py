"""The DAGs as an interface: their ids, forms, schedules, pools; and that every task fits the job it runs."""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
from datetime import timedelta
from pathlib import Path

import pytest
from airflow.api_fastapi.core_api.datamodels.dag_run import TriggerDAGRunPostBody
from airflow.dag_processing.dagbag import DagBag
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import AssetOrTimeSchedule, DeltaTriggerTimetable
from airflow.sdk.bases.sensor import BaseSensorOperator
from airflow.sdk.definitions._internal.types import NOTSET
from airflow.sdk.exceptions import AirflowTaskTimeout
from airflow.serialization.serialized_objects import DagSerialization
from support.rendering import rendered

from sluice.airflow_api.client import dag_run
from sluice.config import configuration, configuration_text
from sluice.state.ddl_question import Decision
from sluice.store import leases
from sluice_airflow import conventions
from sluice_airflow.failures import JobCrashed, JobFailed, JobPostponed
from sluice_airflow.operator import SluiceSparkOperator

PROJECT = Path(__file__).resolve().parents[2]
DAG_IDS = {
    "administer",
    "approve_losses",
    "bootstrap",
    "cancel_update",
    "decide",
    "housekeeping",
    "publish__flights",
    "drain__flights__zurich",
    "drain__flights__geneva",
    "initial_update",
    "receive_initial_files",
    "repair",
    "statement",
    "upgrade_master",
    "verify",
}
TASKS = [
    ("bootstrap", "bootstrap"),
    ("publish__flights", "publish"),
    ("drain__flights__zurich", "drain"),
    ("drain__flights__geneva", "drain"),
    ("cancel_update", "cancel"),
    ("initial_update", "inhibit"),
    ("initial_update", "dump"),
    ("initial_update", "release"),
    ("initial_update", "blocks"),
    ("initial_update", "verify"),
    ("initial_update", "abandon"),
    ("receive_initial_files", "expected"),
    ("receive_initial_files", "receive"),
    ("receive_initial_files", "release"),
    ("receive_initial_files", "verify"),
    ("repair", "repair"),
    ("verify", "verify"),
    ("administer", "administer"),
    ("statement", "statement"),
    ("upgrade_master", "upgrade_master"),
    ("decide", "question"),
    ("decide", "decide"),
    ("approve_losses", "losses"),
    ("approve_losses", "allow"),
    ("housekeeping", "housekeeping"),
]


def test_the_dag_ids_are_these(bag):
    assert bag.import_errors == {}
    assert set(bag.dags) == DAG_IDS == set(configuration.load().dags)


def test_a_prefix_begins_the_id_of_every_dag(deployment, monkeypatch):
    prefixed = deployment.path / "prefixed.yaml"
    prefixed.write_text((deployment.path / "replication.yaml").read_text() + "dag_prefix: acme_\n")
    monkeypatch.setenv("SLUICE_CONFIG", str(prefixed))
    assert set(DagBag(dag_folder=str(PROJECT / "dags")).dags) == {f"acme_{name}" for name in DAG_IDS}


def test_a_dag_file_of_two_lines_makes_the_dags_of_the_configuration_that_it_names(deployment, monkeypatch, tmp_path):
    monkeypatch.setenv("SLUICE_CONFIG", str(configuration_text.path()))
    named = tmp_path / "here" / "replication.yaml"
    named.parent.mkdir()
    named.write_text((deployment.path / "replication.yaml").read_text() + "dag_prefix: acme_\n")
    monkeypatch.delenv("SLUICE_CONFIG")
    folder = tmp_path / "dag_folder"
    folder.mkdir()
    line = "from sluice_airflow_dags import sluice_dags\nsluice_dags({!r})\n"
    (folder / "ours.py").write_text(line.format(str(named)))
    found = DagBag(dag_folder=str(folder))
    assert found.import_errors == {}
    assert set(found.dags) == {f"acme_{name}" for name in DAG_IDS}
    # So do the tasks of these DAGs, and their jobs.
    assert configuration_text.path() == named


def test_every_task_is_listed_here(bag):
    tasks = {(dag_id, task.task_id) for dag_id, dag in bag.dags.items() for task in dag.tasks}
    nothing = {(dag_id, "finished") for dag_id in ("initial_update", "receive_initial_files")}
    assert tasks == {
        *TASKS,
        *nothing,
        ("receive_initial_files", "arrived"),
        ("receive_initial_files", "approve"),
        ("decide", "answer"),
        ("approve_losses", "answer"),
    }


def test_dags_are_parsed_with_the_network_shut_and_no_file_but_the_configuration(bag, parsing_watch):
    parsing_watch.events.clear()
    parsing_watch.on = True
    try:
        again = DagBag(dag_folder=str(PROJECT / "dags"))
    finally:
        parsing_watch.on = False
    assert again.import_errors == {}
    assert [event for event, _ in parsing_watch.events if event != "open"] == []
    opened = {str(details[0]) for event, details in parsing_watch.events if event == "open"}
    ours = {path for path in opened if path.startswith(f"{PROJECT}{os.sep}") and not path.endswith((".py", ".pyc"))}
    assert ours - {str(PROJECT / "dags" / ".airflowignore")} == {str(configuration_text.path())}


@pytest.mark.parametrize("dag_id", sorted(DAG_IDS))
def test_a_dag_says_what_it_is_and_whose(bag, dag_id):
    dag = bag.dags[dag_id]
    assert dag.doc_md.strip()
    assert dag.description
    assert "sluice" in dag.tags
    assert {task.owner for task in dag.tasks} == {"sluice"}
    at_once = {
        "initial_update": 3,
        "receive_initial_files": 3,
        "decide": conventions.MANY,
        "approve_losses": conventions.MANY,
    }.get(dag_id, 1)
    assert (dag.catchup, dag.max_active_runs, dag.is_paused_upon_creation) == (False, at_once, None)


def test_sources_that_belong_together_share_a_tag(tmp_path, monkeypatch):
    shipped = configuration_text.path().read_text(encoding="utf-8")
    file = tmp_path / "replication.yaml"
    file.write_text(shipped.replace("  flights:\n", "  flights:\n    group: travel\n", 1))
    monkeypatch.setenv("SLUICE_CONFIG", str(file))
    dags = DagBag(dag_folder=str(PROJECT / "dags")).dags
    tagged = {dag_id for dag_id, dag in dags.items() if "group:travel" in dag.tags}
    assert tagged == {"publish__flights", "drain__flights__zurich", "drain__flights__geneva"}


def test_the_form_of_an_update_tells_what_each_task_leaves_behind(bag):
    rows = re.findall(r"^\| `(inhibit|dump|release)` \|.*\| (.*) \|$", bag.dags["initial_update"].doc_md, re.MULTILINE)
    assert dict(rows) == {
        "inhibit": "INITIAL, dispatcher STANDBY",
        "dump": "INITIAL, dispatcher STANDBY",
        "release": "TRANSITION, dispatcher ACTIVE",
    }


@pytest.mark.parametrize("dag_id", sorted(DAG_IDS))
def test_a_dag_survives_serialization(bag, dag_id):
    assert DagSerialization.from_dict(DagSerialization.to_dict(bag.dags[dag_id])).dag_id == dag_id


def test_only_the_house_operator_sensors_questions_and_no_ops_are_used(bag):
    """Every task that touches a database is a Spark job; others wait, for a thing or a person, or do nothing at all."""
    allowed = (SluiceSparkOperator, BaseSensorOperator, HITLOperator, EmptyOperator)
    others = [task for dag in bag.dags.values() for task in dag.tasks if not isinstance(task, allowed)]
    assert others == []


@pytest.mark.parametrize(("dag_id", "task_id"), TASKS, ids=[f"{dag}.{task}" for dag, task in TASKS])
def test_the_arguments_of_a_task_parse_with_its_jobs_own_parser(bag, job_module, dag_id, task_id):
    task = rendered(bag.dags[dag_id], task_id)
    parsed = vars(job_module(task.job).parser().parse_args(task.command_line()))
    assert parsed.get("source", "flights") == "flights"
    asked = task.arguments.get("slave")
    assert asked is None or parsed.get("slave", parsed.get("slaves")) in (asked, [asked])


def test_what_a_slave_asks_is_a_run_of_the_dag_that_airflow_takes(bag, job_module):
    asked = {"source": "flights", "slave": "geneva", "change": 61}
    sent = TriggerDAGRunPostBody.model_validate(dag_run("flights__geneva__61", asked))
    assert sent.dag_run_id == "flights__geneva__61"
    params = bag.dags["decide"].params
    assert {name: params.get_param(name).resolve(value) for name, value in sent.conf.items()} == sent.conf
    task = rendered(bag.dags["decide"], "decide", **sent.conf)
    parsed = job_module("decide").parser().parse_args(task.command_line())
    assert (parsed.slave, parsed.change, parsed.answer, parsed.who) == ("geneva", 61, Decision.APPROVE, "eva")


def test_what_a_person_administers_reaches_the_job_with_the_name_of_who_triggered_it(bag, job_module):
    parse = job_module("administer").parser().parse_args
    parsed = parse(rendered(bag.dags["administer"], "administer", slave="geneva", remove_first=412).command_line())
    assert (parsed.slave, parsed.remove_first, parsed.skip, parsed.who) == ("geneva", 412, None, "eva")
    parsed = parse(rendered(bag.dags["administer"], "administer", skip="public.t").command_line())
    assert (parsed.remove_first, parsed.skip, parsed.clear_queue) == (None, "public.t", False)
    assert parse(rendered(bag.dags["administer"], "administer", clear_queue=True).command_line()).clear_queue
    parsed = parse(rendered(bag.dags["administer"], "administer", remove="tables").command_line())
    assert (parsed.remove, parsed.clear_queue) == ("tables", False)
    parsed = parse(rendered(bag.dags["administer"], "administer", rejected="drop", numbers=["7", "8"]).command_line())
    assert (parsed.rejected, parsed.numbers, parsed.through) == ("drop", [7, 8], None)
    parsed = parse(rendered(bag.dags["administer"], "administer", rejected="carry_out", through=9).command_line())
    assert (parsed.rejected, parsed.numbers, parsed.through) == ("carry_out", [], 9)


def test_who_cancels_an_update_is_told_to_the_job(bag, job_module):
    task = rendered(bag.dags["cancel_update"], "cancel", slaves=["geneva"])
    parsed = job_module("cancel").parser().parse_args(task.command_line())
    assert (parsed.slaves, parsed.who) == (["geneva"], "eva")


def test_publishing_emits_the_asset_that_drains_wait_for(bag):
    publish = bag.dags["publish__flights"]
    (asset,) = publish.get_task("publish").outlets
    assert asset.uri == "sluice://flights/changelog"
    assert publish.get_task("publish").outlet_if == "transactions"
    assert isinstance(publish.timetable, DeltaTriggerTimetable)
    assert publish.timetable.delta == timedelta(seconds=300)


@pytest.mark.parametrize("dag_id", ["drain__flights__zurich", "drain__flights__geneva"])
def test_a_drain_starts_by_asset_or_time(bag, dag_id):
    dag = bag.dags[dag_id]
    assert isinstance(dag.timetable, AssetOrTimeSchedule)
    assert [asset.uri for asset in dag.timetable.asset_condition.objects] == ["sluice://flights/changelog"]
    assert dag.timetable.timetable.delta == timedelta(seconds=600)
    assert dag.dagrun_timeout is None


@pytest.mark.parametrize("dag_id", sorted(DAG_IDS))
def test_no_dag_is_paused_for_a_task_that_airflow_lost(bag, dag_id):
    """A drain pauses itself for an error of its own; Airflow counts its own failures as well."""
    assert bag.dags[dag_id].max_consecutive_failed_dag_runs == 0


def test_a_form_explains_each_field_in_a_sentence_and_requires_only_what_nobody_can_guess():
    # A param keeps what it was resolved to last.
    for dag in DagBag(dag_folder=str(PROJECT / "dags")).dags.values():
        required = set()
        for name in dag.params:
            param = dag.params.get_param(name)
            assert param.schema["title"]
            assert re.fullmatch(r"[A-Z].*\.", param.description)
            if "null" not in param.schema["type"]:
                required.add(name)
        assert required <= {"source", "slave", "slaves", "change", "statement", "step"}
        # Whoever triggers it picks the slaves.
        assert all(dag.params.get_param(name).value is NOTSET for name in required & {"slave", "slaves"})


@pytest.mark.parametrize(
    ("error", "try_number", "action", "delay_s"),
    [
        pytest.param(JobPostponed("SLC-101: no route"), 1, "retry", 5, id="unreachable"),
        pytest.param(JobPostponed("SLC-101: no route"), 4, "retry", 40, id="unreachable-for-a-minute"),
        pytest.param(JobPostponed("SLC-101: no route"), 5_000, "retry", 120, id="unreachable-for-a-week"),
        pytest.param(AirflowTaskTimeout(), 2, "retry", 10, id="hung"),
        pytest.param(JobCrashed("exit code 1"), 1, "retry", leases.SECONDS + 5, id="crashed-with-its-lease"),
        pytest.param(JobCrashed("exit code 1"), 5, "fail", None, id="keeps-crashing"),
        pytest.param(JobFailed("SLC-073: no"), 1, "fail", None, id="terminal"),
    ],
)
@pytest.mark.parametrize(("dag_id", "task_id"), [("drain__flights__zurich", "drain"), ("initial_update", "dump")])
def test_what_passes_is_waited_for_but_not_a_job_that_keeps_crashing(
    bag, dag_id, task_id, error, try_number, action, delay_s
):
    task = bag.dags[dag_id].get_task(task_id)
    decision = task.retry_policy.evaluate(error, try_number, task.retries)
    assert decision.action.value == action
    assert decision.retry_delay == (delay_s and timedelta(seconds=delay_s))


def test_a_failed_initial_update_is_abandoned_and_its_run_fails(bag):
    """The run is judged by its leaves: one is reached only if all went well, the other only if something did not."""
    dag = bag.dags["initial_update"]
    stages = ["inhibit", "dump", "release", "blocks", "verify"]
    assert {task.task_id for task in dag.leaves} == {"finished", "abandon"}
    assert dag.get_task("finished").upstream_task_ids == {"verify"}
    assert dag.get_task("abandon").upstream_task_ids == set(stages)
    assert dag.get_task("abandon").trigger_rule == "one_failed"
    for earlier, later in itertools.pairwise(stages):
        assert earlier in dag.get_task(later).upstream_task_ids
    # A timed-out run would skip `abandon`, and leave the slaves in INITIAL.
    assert dag.dagrun_timeout is None


def test_our_modules_do_not_stand_in_for_pythons_own():
    """Airflow imports the plugins folder's files as top-level modules; one of ours is called operator.py."""
    import operator

    from airflow import plugins_manager

    plugins_manager._get_plugins()
    assert importlib.util.find_spec("operator").origin == operator.__spec__.origin
    assert not str(getattr(__import__("sys").modules["operator"], "__file__", "")).startswith(str(PROJECT))


def test_another_configuration_makes_other_dags(monkeypatch, tmp_path):
    (tmp_path / "replication.yaml").write_text(
        """
sources:
  sales: {connection: a, tables: {public.orders: {}}, schedule: {every_s: 5, run_for_s: 0}}
  stock: {connection: b, tables: {public.parts: {}}}
slaves: {bern: {connection: c}}
replications:
  - {source: sales, slave: bern, schedule: {every_s: 600}}
alerts: {to: "slackwebhook://ops", every_s: 20}
"""
    )
    monkeypatch.setenv("SLUICE_CONFIG", str(tmp_path / "replication.yaml"))
    dags = DagBag(dag_folder=str(PROJECT / "dags")).dags
    per_pair = {"publish__sales", "publish__stock", "drain__sales__bern"}
    assert (
        set(dags)
        == {
            "administer",
            "alerts",
            "approve_losses",
            "bootstrap",
            "cancel_update",
            "decide",
            "housekeeping",
            "initial_update",
            "receive_initial_files",
            "repair",
            "statement",
            "upgrade_master",
            "verify",
        }
        | per_pair
    )
    assert set(dags) == set(configuration.load().dags)
    assert dags["alerts"].timetable.delta == timedelta(seconds=20)
    assert dags["publish__sales"].timetable.delta == timedelta(seconds=5)
    assert dags["drain__sales__bern"].timetable.timetable.delta == timedelta(minutes=10)


def test_a_wrong_configuration_shows_as_an_import_error_with_its_hint(monkeypatch, tmp_path):
    (tmp_path / "replication.yaml").write_text("sources: {}\nslavs: {}\n")
    monkeypatch.setenv("SLUICE_CONFIG", str(tmp_path / "replication.yaml"))
    errors = DagBag(dag_folder=str(PROJECT / "dags")).import_errors
    (text,) = errors.values()
    assert "SLC-002" in text
    assert "HINT" in text
