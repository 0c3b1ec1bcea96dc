"""Spark job: delete old runs of our DAGs, old logs, and the rows of old comparisons."""

import argparse
from pathlib import Path

from sluice.airflow_api.old_runs import clean_up
from sluice.context import Context
from sluice.spark.job import run
from sluice.store import compared_parts, comparisons


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--days", type=float, required=True, help="delete what is older")
    options.add_argument("--logs", type=Path, help="where Airflow keeps the logs of tasks")
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """Rows of old comparisons go first, which needs nothing of Airflow."""
    rows = comparisons.trim(context.store, options.days)
    compared_parts.trim(context.store)
    return {**clean_up(context.runs(), context.config, options.days, options.logs), "rows_of_comparisons": rows}


if __name__ == "__main__":
    run(parser(), call)
