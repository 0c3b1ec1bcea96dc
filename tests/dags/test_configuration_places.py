"""A configuration that is in no file: DAGs, jobs, commands and pages get it from a store or an Airflow Variable."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from airflow.models import Variable
from pyarrow import fs
from support.buckets import SECRET
from support.buckets import bucket as bucket
from support.buckets import object_store as object_store

from sluice.cli import context as shell
from sluice.config import configuration, configuration_text
from sluice.config.configuration_text import CONFIG_ENV, TEXT_ENV
from sluice.errors import ConfigError
from sluice_airflow import init, variables
from sluice_airflow.api_server import ApiServer
from sluice_airflow.operator import SluiceSparkOperator
from sluice_airflow_dags import sluice_dags

PREFIX = "dag_prefix: acme_\n"
SPY = "import json, os; print(json.dumps(dict(os.environ)))"


@pytest.fixture
def in_variable(address, deployment, monkeypatch):
    """Takes the configuration out of its file; gives the place in Airflow's table of Variables."""
    monkeypatch.setenv(TEXT_ENV, "")
    text = (deployment.path / "replication.yaml").read_text() + PREFIX
    (deployment.path / "replication.yaml").unlink()
    Variable.set("sluice", text)
    monkeypatch.setenv(CONFIG_ENV, "airflow-variable:sluice")
    yield "airflow-variable:sluice"
    Variable.delete("sluice")


@pytest.fixture
def in_store(bucket, deployment, monkeypatch):
    """Puts the configuration into an object store; gives its URL."""
    monkeypatch.setenv(TEXT_ENV, "")
    url = bucket("settings/replication.yaml")
    store, path = fs.FileSystem.from_uri(url)
    store.create_dir(path.rpartition("/")[0])
    with store.open_output_stream(path) as stream:
        stream.write((deployment.path / "replication.yaml").read_bytes() + PREFIX.encode())
    return url


def expect_everywhere(place, deployment, context, tmp_path, monkeypatch):
    """DAGs are made by it, and a job has its text without asking anybody."""
    assert "acme_drain__flights__zurich" in sluice_dags(place)
    assert os.environ[CONFIG_ENV] == place
    deployment.job(SPY)
    operator = SluiceSparkOperator(task_id="t", job="fake", arguments={"source": "flights", "slave": ["zurich"]})
    result = operator.execute(context)
    assert (result["SLUICE_CONFIG"], result["SLUICE_DAG_PREFIX"]) == (place, "acme_")
    # The job reads what it was handed, also when the place is gone meanwhile.
    monkeypatch.setenv(TEXT_ENV, result["SLUICE_CONFIG_TEXT"])
    monkeypatch.setattr(configuration_text, "_read_url", lambda url: pytest.fail("it asked the store"))
    assert configuration.load().dag_prefix == "acme_"
    with pytest.raises(ConfigError, match=r"SLC-002: this needs a configuration in a file, and it is "):
        configuration_text.path()


def test_dags_and_jobs_go_by_a_variable(in_variable, deployment, context, tmp_path, monkeypatch):
    expect_everywhere(in_variable, deployment, context, tmp_path, monkeypatch)


def test_dags_and_jobs_go_by_a_url(in_store, deployment, context, tmp_path, monkeypatch):
    expect_everywhere(in_store, deployment, context, tmp_path, monkeypatch)


@pytest.mark.full
def test_a_command_asks_airflow_for_the_variable(in_variable):
    assert shell.read_configuration().dag_prefix == "acme_"


def test_a_command_reads_the_url(in_store, monkeypatch):
    monkeypatch.setenv(CONFIG_ENV, in_store)
    assert shell.read_configuration().dag_prefix == "acme_"


def test_pages_notice_another_text_of_the_variable(in_variable, monkeypatch):
    server = ApiServer()
    assert server.context().config.dag_prefix == "acme_"
    Variable.set("sluice", Variable.get("sluice").replace("acme_", "other_"))
    assert server.context().config.dag_prefix == "acme_"
    monkeypatch.setattr("sluice_airflow.api_server._KEPT_S", 0)
    assert server.context().config.dag_prefix == "other_"
    # Airflow does not say whether it is gone, or could not be read.
    Variable.delete("sluice")
    assert server.context().config.dag_prefix == "other_"


def test_pages_wait_for_no_place_that_hangs(in_variable, monkeypatch):
    server = ApiServer()
    last = server.context()
    monkeypatch.setattr("sluice_airflow.api_server._KEPT_S", 0)
    asked, answers = Event(), Event()

    def hang(*_):
        asked.set()
        assert answers.wait(60)

    with monkeypatch.context() as patch, ThreadPoolExecutor(1) as pool:
        patch.setattr(configuration_text, "hand_over", hang)
        reading = pool.submit(server.context)
        assert asked.wait(60)
        assert server.context() is last
        answers.set()
        reading.result(60)


def test_init_makes_a_dag_file_that_names_the_place(in_variable, tmp_path, capsys):
    for said in ("made: ", "there: "):
        init._dag_file(tmp_path / "folder")
        assert capsys.readouterr().out.startswith(f"{said}the DAG file ")
    assert "sluice_dags('airflow-variable:sluice')" in (tmp_path / "folder" / "sluice_replication.py").read_text()


@pytest.mark.parametrize("read", [variables.read_configuration, shell.read_configuration])
def test_a_variable_that_is_not_there_is_named_with_the_command_that_makes_it(read, address, monkeypatch):
    monkeypatch.setenv(CONFIG_ENV, "airflow-variable:none_such")
    with pytest.raises(
        ConfigError, match=r"SLC-002: .* the Airflow Variable 'none_such', and Airflow gave no text"
    ) as told:
        read()
    assert "airflow variables set none_such" in told.value.hint


def test_a_process_without_airflow_says_that_it_was_handed_no_text(monkeypatch):
    monkeypatch.delenv(TEXT_ENV, raising=False)
    monkeypatch.setenv(CONFIG_ENV, "airflow-variable:sluice")
    with pytest.raises(ConfigError, match=r"SLC-002: .*Variable 'sluice', and this process was not given its text"):
        configuration.load()


def test_an_object_that_is_not_there_is_named(bucket, monkeypatch):
    url = bucket("nowhere/replication.yaml")
    monkeypatch.setenv(CONFIG_ENV, url)
    with pytest.raises(ConfigError, match=r"SLC-002: the configuration s3://.*/nowhere/replication.yaml.* cannot be"):
        variables.read_configuration()


def test_a_url_with_a_secret_is_refused_and_not_shown(monkeypatch):
    monkeypatch.setenv(CONFIG_ENV, f"s3://AKIA:{SECRET}@bucket/replication.yaml")
    with pytest.raises(ConfigError, match=r"SLC-002: the URL in SLUICE_CONFIG has a password") as told:
        variables.read_configuration()
    assert SECRET not in str(told.value)


def test_a_text_that_fits_into_no_environment_is_refused(in_variable):
    Variable.set("sluice", json.dumps([os.urandom(8).hex() for _ in range(20_000)]))
    with pytest.raises(ConfigError, match=r"SLC-002: .* is too long to be handed to jobs: [\d,]+ bytes"):
        variables.read_configuration()
