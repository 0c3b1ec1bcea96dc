"""Spark job: open the gates of slaves whose initial data is in."""

import argparse

from sluice.initial_update.release import release
from sluice.spark.job import arguments, run


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    return arguments(__doc__, slaves="+")


if __name__ == "__main__":
    run(parser(), lambda context, options: release(context, options.source, options.slaves))
