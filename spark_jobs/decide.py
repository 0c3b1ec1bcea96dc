"""Spark job: say what becomes of a command of the master that a slave waits in front of."""

import argparse

from sluice.commands import unblock
from sluice.context import Context
from sluice.model.names import Pair
from sluice.spark.job import arguments, run_as_task
from sluice.state.ddl_question import Decision


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="1")
    options.add_argument("--change", required=True, type=int, metavar="KEY", help="REPL_KEY of the command")
    options.add_argument("--answer", required=True, type=str.lower, choices=list(Decision), help="approve or reject")
    options.add_argument("--who", required=True, help="who said so")
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """The decision that the arguments stand for."""
    pair, answer = Pair(options.source, options.slave), Decision(options.answer)
    return {answer: unblock.decide(context, pair, options.change, answer, options.who)}


if __name__ == "__main__":
    run_as_task(parser(), call)
