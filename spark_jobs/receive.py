"""Spark job: load initial data that was carried to a slave by hand, after every file of it was checked."""

import argparse

from sluice.initial_update.files.receive import receive
from sluice.spark.job import arguments, run
from sluice.spark.load_tasks import load


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    return arguments(__doc__, slaves="1")


if __name__ == "__main__":
    run(parser(), lambda context, options: receive(context, options.source, options.slave, load))
