"""Spark job: shut the gates of slaves for an initial update."""

import argparse

from sluice.initial_update.inhibit import inhibit
from sluice.spark.job import arguments, run


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="+")
    options.add_argument("--force", action="store_true", help="give up data that is on its way to them by hand")
    return options


if __name__ == "__main__":
    run(parser(), lambda context, options: inhibit(context, options.source, options.slaves, force=options.force))
