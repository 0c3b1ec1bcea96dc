"""Spark job: what the columns of a slave would lose of the master's values, as people are asked about it."""

import argparse

from sluice.context import Context
from sluice.initial_update import column_losses, loss_approval
from sluice.model.names import Pair
from sluice.spark.job import arguments, as_task, run


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="1")
    options.add_argument("--refused", type=int, default=0, metavar="UPDATE", help="the one that was refused for it")
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """The question as a page shows it; its report is a file of this machine."""
    asked = as_task(context, options, question)
    file = column_losses.write_report(Pair(options.source, options.slave), str(asked["report"]))
    return {**asked, "file": file}


def question(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """Ask the databases."""
    return loss_approval.question(context, Pair(options.source, options.slave), options.refused)


if __name__ == "__main__":
    run(parser(), call)
