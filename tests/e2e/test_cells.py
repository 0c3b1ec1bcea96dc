"""The same wheel beside other versions of Airflow and PySpark, which it leaves as they are."""

from __future__ import annotations

import pytest
from support.sparkserver import java as java
from support.stock import installed
from support.stock_deployment import deployed

pytestmark = [pytest.mark.full, pytest.mark.slow, pytest.mark.airflow, pytest.mark.postgres, pytest.mark.spark]


@pytest.mark.parametrize(
    ("airflow", "sqlalchemy", "pyspark"),
    [
        pytest.param("3.1", "2.0", "4.2", id="airflow-3.1-pyspark-4.2"),
        pytest.param("3.2", "2.0", "4.2", id="airflow-3.2-pyspark-4.2"),
        pytest.param("3.3", "2.1", "4.2", id="airflow-3.3-pyspark-4.2"),
    ],
)
def test_an_initial_update_and_a_drain_end_with_an_equal_slave(
    server, java, tmp_path_factory, airflow, sqlalchemy, pyspark
):
    beside = {
        "apache-airflow": airflow,
        "sqlalchemy": sqlalchemy,
        "pyspark[connect]": pyspark,
        "pyspark-client": pyspark,
    }
    environment = installed(
        tmp_path_factory.mktemp("cell"),
        beside=["apache-airflow-providers-apache-spark", *(f"{name}=={version}.*" for name, version in beside.items())],
    )
    with deployed(environment, server, java, tmp_path_factory.mktemp("deployed")) as cell:
        cell.unpause()
        cell.replicate()
