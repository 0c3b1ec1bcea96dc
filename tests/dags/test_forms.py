"""What people choose when they trigger a DAG reaches its jobs; what is not configured cannot be chosen."""

from __future__ import annotations

import argparse
import re
from itertools import chain

import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.sdk.definitions._internal.types import NOTSET
from airflow.sdk.exceptions import ParamValidationError
from support.rendering import rendered

from sluice import paths
from sluice.config import configuration_text
from sluice.dev import reference
from sluice.initial_update.options import SNAPSHOT
from sluice_airflow.operator import CONF_OF_RUNS


def test_every_choice_of_the_verify_form_reaches_the_job(bag, job_module):
    chosen = {
        "slaves": ["geneva"],
        "tables": ["public.airlines", "public.flights"],
        "sample": 50,
        "confidence": 0.999,
        "since": "41/8",
    }
    task = rendered(bag.dags["verify"], "verify", **chosen, at_most="1/400")
    parsed = vars(job_module("verify").parser().parse_args(task.command_line()))
    assert parsed["at_most"] == 1 / 400
    assert parsed | {"tables": [str(name) for name in parsed["tables"]]} == parsed | chosen
    words = rendered(bag.dags["initial_update"], "inhibit", **chosen).command_line()
    assert job_module("inhibit").parser().parse_args(words).tables == parsed["tables"]


@pytest.mark.parametrize(
    ("kinds", "rows", "column"),
    [(["missing", "extra"], "3, 5-9", "changed at"), ([], "3, 5-9", None), ([], "3, 5", "1_0"), ([], "[7]", "None")],
)
def test_every_choice_of_the_repair_form_reaches_the_job(bag, job_module, kinds, rows, column):
    chosen = {"slave": "geneva", "report": 7, "kinds": kinds, "rows": rows, "dry_run": True}
    chosen |= {"rule": "newest" if column else None, "column": column}
    words = rendered(bag.dags["repair"], "repair", **chosen).command_line()
    parsed = vars(job_module("repair").parser().parse_args(words))
    assert parsed | chosen == parsed | {"slave": parsed["slave"]}


@pytest.mark.parametrize("who", ["eva", "'otto'", "1_0", "None", "['otto', 'eva']"])
def test_nobody_is_in_the_audit_trail_under_another_name(bag, job_module, who):
    words = rendered(bag.dags["administer"], "administer", by=who, skip="public.t").command_line()
    assert job_module("administer").parser().parse_args(words).who == who


@pytest.mark.parametrize("name", ["source", "slaves"])
def test_the_form_of_an_initial_update_says_first_that_rows_are_replaced(bag, name):
    dag = bag.dags["initial_update"]
    assert "are replaced" in dag.doc_md.split("\n\n")[1]
    assert "replace" in dag.params.get_param(name).description
    assert "replace" not in bag.dags["verify"].params.get_param(name).description


TRIGGERED = re.compile(r"\./sluice\s+trigger\s+([a-z_]+)((?:\s+(?:\\\s+)?\w+=[^\s`]+)+)")


def test_the_documents_trigger_dags_with_what_their_forms_require(bag):
    found = 0
    for file in chain(paths.PROJECT.glob("*.md"), (paths.PROJECT / "include" / "docs").rglob("*.md")):
        for dag_id, words in TRIGGERED.findall(file.read_text()):
            params = bag.dags[dag_id].params
            named = {word.partition("=")[0] for word in words.replace("\\", " ").split()}
            assert named <= set(params), (file, dag_id, words)
            required = {name for name in params if "null" not in params.get_param(name).schema["type"]}
            assert required <= named, (file, dag_id, words)
            found += 1
    assert found > 10


def test_the_page_of_dags_says_what_they_are(monkeypatch):
    # The DAGs of the page have a configuration of their own.
    monkeypatch.setenv(configuration_text.CONFIG_ENV, "")
    outdated = reference.outdated_pages(argparse.ArgumentParser(), reference.DAG_PAGES)
    assert not outdated, "type ./sluice docs --reference"


@pytest.mark.parametrize(
    ("dag_id", "task_id", "choice", "option"),
    [
        ("bootstrap", "bootstrap", "recreate_triggers", "recreate_triggers"),
        ("bootstrap", "bootstrap", "rebase", "rebase"),
        ("initial_update", "dump", "store_initial_data", "store"),
        ("initial_update", "inhibit", "force", "force"),
    ],
)
def test_a_choice_of_a_form_is_a_switch(bag, job_module, dag_id, task_id, choice, option):
    plain = rendered(bag.dags[dag_id], task_id).command_line()
    task = rendered(bag.dags[dag_id], task_id, **{choice: True})
    assert task.command_line() == [*plain, f"--{option.replace('_', '-')}"]
    assert vars(job_module(task.job).parser().parse_args(task.command_line()))[option] is True


def test_what_follows_an_initial_update_and_what_led_to_it_reach_its_first_task(bag, job_module):
    chosen = {"cascade": "flights/geneva", "after": ["a->b", "b->c"]}
    parser = job_module("inhibit").parser()
    told = vars(parser.parse_args(rendered(bag.dags["initial_update"], "inhibit", **chosen).command_line()))
    assert told.items() >= chosen.items()
    untold = vars(parser.parse_args(rendered(bag.dags["initial_update"], "inhibit").command_line()))
    assert (untold["cascade"], untold["after"]) == ("", [])


@pytest.mark.parametrize("task", ["inhibit", "dump"])
def test_what_begins_an_initial_update_is_told_to_resume(bag, job_module, task):
    words = rendered(bag.dags["initial_update"], task, resume=True).command_line()
    assert job_module(task).parser().parse_args(words).resume


def test_keys_reach_what_asks_for_them_and_what_compares_their_tables(bag, job_module):
    keys = ["public.flights: 2013, 'it''s' ..", "public.planes: .. N1"]
    for task in ("inhibit", "verify"):
        words = rendered(bag.dags["initial_update"], task, key_ranges=keys, mode="online").command_line()
        assert job_module(task).parser().parse_args(words).keys == keys


def test_ranges_of_keys_that_alone_are_compared_reach_the_job(bag, job_module):
    ranges = ["public.flights: 2013, 'it''s' ..", "public.planes: .. N1"]
    words = rendered(bag.dags["verify"], "verify", ranges=ranges).command_line()
    assert job_module("verify").parser().parse_args(words).ranges == ranges
    plain = rendered(bag.dags["verify"], "verify").command_line()
    assert rendered(bag.dags["verify"], "verify", ranges=[" ", ""]).command_line() == plain


def test_every_mode_of_an_initial_update_reaches_its_dump(bag, job_module):
    for mode in bag.dags["initial_update"].params.get_param("mode").schema["enum"]:
        words = rendered(bag.dags["initial_update"], "dump", mode=mode).command_line()
        assert job_module("dump").parser().parse_args(words).mode == (mode or SNAPSHOT)


def test_blanks_are_no_choice(bag, job_module):
    blank = {"version": "  ", "cascade": None, "tables": [" ", ""], "key_ranges": ["", " "], "mode": None}
    for task in ("inhibit", "dump"):
        plain = rendered(bag.dags["initial_update"], task, mode=None).command_line()
        assert rendered(bag.dags["initial_update"], task, **blank).command_line() == plain
    words = rendered(bag.dags["initial_update"], "inhibit", version=" REPL_Ver_0.5\t", slaves=[" zurich "])
    assert {"--version=REPL_Ver_0.5", "--slave=zurich"} <= set(words.command_line())
    key_ranges = bag.dags["initial_update"].params.get_param("key_ranges")
    assert key_ranges.resolve(["public.legs: 1 .. 2", "", "  "])


def test_what_one_of_our_runs_tells_another_is_no_field(bag):
    for dag in bag.dags.values():
        assert not CONF_OF_RUNS & dag.params.keys()


def test_tables_are_written_where_only_the_source_knows_them(tmp_path, monkeypatch):
    """Airflow's form lets nobody add to a list of choices."""
    shipped = configuration_text.path().read_text(encoding="utf-8")
    file = tmp_path / "replication.yaml"
    file.write_text(shipped.replace("public.airlines: {}", "public.*: {}", 1))
    monkeypatch.setenv("SLUICE_CONFIG", str(file))
    schema = DagBag(dag_folder=str(paths.PROJECT / "dags")).dags["verify"].params.get_param("tables").schema
    assert "examples" not in schema
    assert schema["items"] == {"type": "string"}


def test_a_source_is_chosen_already_only_if_there_is_no_other(bag, tmp_path, monkeypatch):
    assert bag.dags["verify"].params["source"] == "flights"
    shipped = configuration_text.path().read_text(encoding="utf-8")
    file = tmp_path / "replication.yaml"
    more = "sources:\n  other: {connection: m, prefix: O_, tables: {public.t: {}}}\n"
    file.write_text(shipped.replace("sources:\n", more, 1))
    monkeypatch.setenv("SLUICE_CONFIG", str(file))
    params = DagBag(dag_folder=str(paths.PROJECT / "dags")).dags["verify"].params
    assert params.get_param("source").value is NOTSET
    assert params.get_param("slaves").schema["values_display"]["zurich"] == "zurich (of flights)"


def test_the_verification_of_an_initial_update_ends_it(bag):
    for dag_id in ("initial_update", "receive_initial_files"):
        assert "--initial" in rendered(bag.dags[dag_id], "verify").command_line()
    assert "--initial" not in rendered(bag.dags["verify"], "verify").command_line()


@pytest.mark.parametrize(
    ("dag_id", "wrong"),
    [
        ("initial_update", {"source": "nowhere"}),
        ("initial_update", {"slaves": ["nowhere"]}),
        ("initial_update", {"slaves": []}),
        ("initial_update", {"slaves": ["zurich", "zurich"]}),
        ("initial_update", {"cascade": "flights/nowhere"}),
        ("initial_update", {"key_ranges": ["public.flights"]}),
        ("receive_initial_files", {"slave": "nowhere"}),
        ("verify", {"tables": ["public.unheard_of"]}),
        ("verify", {"sample": 0}),
        ("verify", {"sample": 101}),
        ("verify", {"confidence": 0.94}),
        ("verify", {"at_most": "0.001"}),
        ("bootstrap", {"recreate_triggers": "perhaps"}),
    ],
)
def test_a_form_refuses_what_is_not_configured(bag, dag_id, wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(ParamValidationError):
        bag.dags[dag_id].params.get_param(name).resolve(value)
