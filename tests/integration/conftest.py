"""The small world for every test here."""

from support.airflow import airflow
from support.carrying import carried
from support.lake import lake
from support.older import older
from support.restartable import restartable
from support.several import several
from support.sparkcluster import spark_cluster
from support.sparkserver import java, spark_server
from support.updating import updating
from support.world import build, weak

__all__ = [
    "airflow",
    "build",
    "carried",
    "java",
    "lake",
    "older",
    "restartable",
    "several",
    "spark_cluster",
    "spark_server",
    "updating",
    "weak",
]
