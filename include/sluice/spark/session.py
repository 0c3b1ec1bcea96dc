"""The Spark session of a job: Spark Connect if the environment names a server, else the one spark-submit gives."""

from __future__ import annotations

import os
from functools import cache

from pyspark.sql import SparkSession

REMOTE_ENV = "SPARK_REMOTE"


@cache
def spark() -> SparkSession:
    """The session, made when it is first needed: an idle sweep needs none."""
    builder = SparkSession.builder.appName("sluice")
    if remote := os.environ.get(REMOTE_ENV):
        return builder.remote(remote).getOrCreate()
    return builder.getOrCreate()
