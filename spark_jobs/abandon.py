"""Spark job: give up an initial update that failed."""

import argparse

from sluice.initial_update.release import abandon
from sluice.spark.job import arguments, run


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    return arguments(__doc__, slaves="+")


if __name__ == "__main__":
    run(parser(), lambda context, options: abandon(context, options.source, options.slaves))
