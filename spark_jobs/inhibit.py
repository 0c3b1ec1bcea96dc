"""Spark job: shut the gates of slaves for an initial update."""

import argparse

from sluice.initial_update.inhibit import inhibit
from sluice.spark.job import arguments, run


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    return arguments(__doc__, slaves="+")


if __name__ == "__main__":
    run(parser(), lambda context, options: inhibit(context, options.source, options.slaves))
