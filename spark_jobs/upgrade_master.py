"""Spark job: prepare an upgrade of a master's server, or go on with the server that it made."""

import argparse

from sluice.context import Context
from sluice.publish import upgrade_master
from sluice.spark.job import arguments, run_as_task


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__)
    options.add_argument("--step", required=True, choices=["before", "after", "after_copy"], help="on which side")
    options.add_argument("--events-aside", action="store_true", help="before: drop the event triggers meanwhile")
    options.add_argument("--who", required=True, help="who wants it")
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """One of the steps."""
    if options.step == "before":
        return upgrade_master.prepare(context, options.source, options.who, events_aside=options.events_aside)
    take = upgrade_master.take if options.step == "after" else upgrade_master.take_copy
    return take(context, options.source, options.who)


if __name__ == "__main__":
    run_as_task(parser(), call)
