"""Spark job: delete old runs of our DAGs, and old logs."""

import argparse
from pathlib import Path

from sluice.airflow_api.old_runs import clean_up
from sluice.spark.job import run


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--days", type=float, required=True, help="delete what is older")
    options.add_argument("--logs", type=Path, help="where Airflow keeps the logs of tasks")
    return options


if __name__ == "__main__":
    run(parser(), lambda context, options: clean_up(context.runs(), context.config, options.days, options.logs))
