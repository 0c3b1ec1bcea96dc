"""Spark job: what the columns of a slave would lose of the master's values, as people are asked about it."""

import argparse

from sluice.control import losses
from sluice.model.names import Pair
from sluice.spark.job import arguments, run


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    return arguments(__doc__, slaves="1")


if __name__ == "__main__":
    run(parser(), lambda context, options: losses.shown(context, Pair(options.source, options.slave)))
