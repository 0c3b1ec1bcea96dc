"""Spark job: open the gates of slaves whose initial data is in."""

import argparse

from sluice.context import Context
from sluice.initial_update.release import release
from sluice.spark.job import arguments, in_task, run
from sluice.state.ddl_question import Reactivation


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="+")
    options.add_argument("--approved", type=int, default=0, metavar="UPDATE", help="the one that it is about")
    options.add_argument("--answer", default="", choices=["", *Reactivation], help="what somebody answered")
    options.add_argument("--who", default="", help="who that was")
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """The release that the arguments stand for."""
    approved = options.approved if options.answer == Reactivation.RELEASE else 0
    return release(context, options.source, options.slaves, approved, options.who, in_task(context, options))


if __name__ == "__main__":
    run(parser(), call)
