"""Where the steps of a job run: as Spark tasks, or in its own process, which then does without PySpark."""

from __future__ import annotations

from sluice import spark_environment
from sluice.context import Context
from sluice.spark.versions import expect_one_version
from sluice.steps import LocalSteps, Result, Steps, Work, run_step


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


def do_once(context: Context, name: str, work: Work) -> Result:
    """Do a work as one Spark task, which is never begun a second time; in this process if it has no Spark.

    Raises:
        SluiceError: what it failed with; SLC-376, Spark does not answer, or loses it; SLC-923, as above.
        StepCrashed: it failed with another error.
    """
    if not spark_environment.is_there():
        return work(context)
    expect_one_version()
    from sluice.spark.steps import SparkSteps

    return run_step(SparkSteps(context, once=True), name, work, lambda: None)
