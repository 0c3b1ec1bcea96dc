"""Spark job: delete old runs of our DAGs, old logs, and old records of the control store."""

import argparse
from pathlib import Path

from sluice.airflow_api.old_runs import clean_up
from sluice.context import Context
from sluice.spark.job import as_task, run
from sluice.store import compared_parts, comparisons, old_records


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--days", type=float, help="delete runs and logs that are older; nothing of these, if it is not given"
    )
    options.add_argument("--logs", type=Path, help="where Airflow keeps the logs of tasks")
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """What is in the control store goes first, which needs nothing of Airflow; logs are on the disk of this process."""
    done = as_task(context, options, trim)
    if options.days is not None:
        done |= clean_up(context.runs(), context.config, options.days, options.logs)
    return done


def trim(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """Delete old records of the control store."""
    days, settings, store = options.days, context.config, context.store
    done: dict[str, object] = {}
    compared_parts.trim(store)
    if settings.keep_records_days is not None:
        done["records"] = old_records.trim(store, settings.keep_records_days)
    if settings.keep_audit_days is not None:
        done["entries"] = old_records.trim_audit(store, settings.keep_audit_days)
    if days is not None:
        done["rows_of_comparisons"] = comparisons.trim(store, days)
    return done


if __name__ == "__main__":
    run(parser(), call)
