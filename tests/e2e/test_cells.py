"""The same wheel beside other versions of Airflow and PySpark, which it leaves as they are.

Each pair has packages of its own to install and takes minutes, so all of them run by `./sluice test all` alone.
"""

from __future__ import annotations

import shutil

import pytest
from support.cells import CELLS
from support.collector import expect_figure_of_task
from support.sparkserver import java as java
from support.stock import installed
from support.stock_deployment import DAGS, deployed, environment_of_dags

pytestmark = [pytest.mark.full, pytest.mark.slow, pytest.mark.airflow, pytest.mark.postgres, pytest.mark.spark]


@pytest.fixture(scope="module", params=CELLS, ids=str)
def pair(request):
    return request.param


@pytest.fixture(scope="module")
def environment(pair, tmp_path_factory):
    python = f"python{pair.python}" if pair.python else ""
    if python and not shutil.which(python):
        pytest.skip(f"there is no {python}")
    return installed(tmp_path_factory.mktemp("cell"), beside=pair.packages, python=python)


@pytest.fixture(scope="module")
def cell(pair, environment, server, java, tmp_path_factory):
    place = tmp_path_factory.mktemp("deployed")
    with deployed(environment, server, java, place, connect=pair.has_connect_server) as running:
        yield running


def test_the_dags_are_made_beside_packages_that_stay_as_they_are(environment, tmp_path):
    program = "from sluice_airflow_dags import sluice_dags; print(*sluice_dags())"
    done = environment.run("python", "-c", program, env=environment_of_dags(tmp_path), seconds=600)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()[-1].split()) == DAGS


def test_a_figure_of_a_task_arrives_as_a_metric_of_airflow(environment, tmp_path):
    expect_figure_of_task(environment.bin / "python", environment_of_dags(tmp_path))


def test_an_airflow_with_a_database_of_its_own_shows_every_dag(cell):
    cell.unpause()


def test_an_initial_update_and_a_drain_end_with_an_equal_slave(cell):
    cell.replicate()


def test_housekeeping_deletes_runs(cell):
    cell.delete_runs()
