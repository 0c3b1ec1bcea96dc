"""The Spark session of a job: Spark Connect if the environment names a server, else the one spark-submit gives."""

from __future__ import annotations

import os
from functools import cache

from pyspark.sql import SparkSession

from sluice.spark_environment import PY_FILES_ENV, REMOTE_ENV

# Set in a process that spark-submit started.
_SUBMITTED_ENV = "PYSPARK_GATEWAY_PORT"


def is_there() -> bool:
    """Whether this process was started with a Spark of its own, or with the address of one."""
    return bool(os.environ.get(REMOTE_ENV) or os.environ.get(_SUBMITTED_ENV))


@cache
def spark() -> SparkSession:
    """The session, made when it is first needed: an idle sweep needs none."""
    builder = SparkSession.builder.appName("sluice")
    if remote := os.environ.get(REMOTE_ENV):
        return _with_files(builder.remote(remote).getOrCreate())
    return builder.getOrCreate()


def _with_files(session: SparkSession) -> SparkSession:
    """Send the executors of a Connect server the Python files that they lack; spark-submit does it by itself."""
    if files := os.environ.get(PY_FILES_ENV):
        session.addArtifacts(*files.split(","), pyfile=True)
    return session


def renewed() -> SparkSession:
    """A new session in place of one that the server does not know any more."""
    spark.cache_clear()
    if remote := os.environ.get(REMOTE_ENV):
        SparkSession.builder.appName("sluice").remote(remote).create()
    return spark()
