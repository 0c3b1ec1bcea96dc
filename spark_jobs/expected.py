"""Spark job: tell where the initial data that is carried to a slave by hand is to arrive."""

import argparse

from sluice.initial_update.files.receive import expected_files
from sluice.spark.job import arguments, run


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    return arguments(__doc__, slaves="1")


if __name__ == "__main__":
    run(parser(), lambda context, options: expected_files(context, options.source, options.slave))
