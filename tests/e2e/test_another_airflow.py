"""The wheel in an Airflow of others: installed beside stock Airflow, with nothing of a checkout."""

from __future__ import annotations

import pytest
from support.launcher import wait_until
from support.sparkserver import java as java
from support.stock import installed
from support.stock_deployment import DAGS, deployed

pytestmark = [pytest.mark.full, pytest.mark.slow, pytest.mark.airflow, pytest.mark.postgres, pytest.mark.spark]


@pytest.fixture(scope="module")
def stock(server, java, tmp_path_factory):
    environment = installed(tmp_path_factory.mktemp("stock"))
    with deployed(environment, server, java, tmp_path_factory.mktemp("deployed")) as running:
        yield running


def test_airflow_lists_the_provider_and_every_dag_paused_as_its_own_setting_says(stock):
    providers = stock.api.ask("/api/v2/providers?limit=100")["providers"]
    assert "sluice" in {provider["package_name"] for provider in providers}
    wait_until(lambda: len(stock.dags()) == DAGS, "the DAGs")
    assert {(dag["dag_id"].startswith("acme_"), dag["is_paused"]) for dag in stock.dags()} == {(True, True)}
    stock.unpause()


def test_a_bootstrap_an_initial_update_and_a_drain_end_with_an_equal_slave(stock):
    stock.replicate()


def test_check_finds_nothing_wrong_and_names_no_checkout(stock):
    said = stock.typed("sluice", "check")
    assert f"Airflow has all 4 pools and {DAGS} DAGs" in said
    assert "./sluice" not in said
