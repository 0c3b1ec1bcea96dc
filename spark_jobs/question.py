"""Spark job: what people are asked about a command of the master that a slave waits in front of."""

import argparse

from sluice.context import Context
from sluice.model.names import Pair
from sluice.spark.job import arguments, run_as_task
from sluice.store import ddl_questions


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="1")
    options.add_argument("--change", required=True, type=int, metavar="KEY", help="REPL_KEY of the command")
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """The question as a page shows it."""
    return ddl_questions.describe(context.store, Pair(options.source, options.slave), options.change)


if __name__ == "__main__":
    run_as_task(parser(), call)
