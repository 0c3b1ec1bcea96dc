"""Spark job: load initial data that was carried to a slave by hand, after every file of it was checked."""

import argparse

from sluice.context import Context
from sluice.initial_update.files.receive import receive
from sluice.spark import lineage
from sluice.spark.job import arguments, run
from sluice.spark.load_tasks import load


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    return arguments(__doc__, slaves="1")


def work(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """Load the data, and say which tables have rows now."""
    done = receive(context, options.source, options.slave, load)
    if done.get("rows"):
        lineage.tell(context, options.source, [options.slave])
    return done


if __name__ == "__main__":
    run(parser(), work)
