"""Spark job: allow what the columns of a slave would lose, as somebody was shown it."""

import argparse

from sluice.context import Context
from sluice.initial_update import loss_approval
from sluice.model.names import Pair
from sluice.spark.job import arguments, as_task, run
from sluice.state.ddl_question import Decision


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="1")
    options.add_argument(
        "--shown", required=True, help="what was shown, as the job `losses` tells it from anything else"
    )
    options.add_argument("--answer", required=True, type=str.lower, choices=list(Decision), help="approve or reject")
    options.add_argument("--who", required=True, help="who said so")
    options.add_argument("--refused", type=int, default=0, metavar="UPDATE", help="the one that was refused for it")
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """The permission; then Airflow is asked for the run that follows from it."""
    if options.answer != Decision.APPROVE:
        return {"allowed": 0}
    done = as_task(context, options, allow)
    return {**done, "next": loss_approval.go_on(context, Pair(options.source, options.slave), options.refused)}


def allow(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """The permission alone."""
    pair = Pair(options.source, options.slave)
    return loss_approval.allow(context, pair, options.shown, options.who, options.refused)


if __name__ == "__main__":
    run(parser(), call)
