"""Spark job: give up an initial update that failed."""

import argparse

from sluice.initial_update.release import abandon
from sluice.spark.job import arguments, run


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="+")
    options.add_argument("--why", default="", help="code and fact of the error that ended it")
    return options


if __name__ == "__main__":
    run(parser(), lambda context, options: abandon(context, options.source, options.slaves, options.why))
