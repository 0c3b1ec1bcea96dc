"""Where the steps of a job run: as Spark tasks, or in its own process, which then does without PySpark."""

from __future__ import annotations

from sluice import spark_environment
from sluice.context import Context
from sluice.spark.versions import expect_one_version
from sluice.steps import LocalSteps, Steps


def steps(context: Context) -> Steps:
    """Steps as Spark tasks; in this process if it has no Spark.

    Raises:
        SluiceError: SLC-923, there are two versions of PySpark.
    """
    if not spark_environment.is_there():
        return LocalSteps(context)
    expect_one_version()
    # To import PySpark is a fifth of what such a job costs until it begins.
    from sluice.spark.steps import SparkSteps

    return SparkSteps(context)
