"""Spark job: copy the watched tables of a source to slaves, in one snapshot, chunk by chunk."""

import argparse

from sluice.initial_update.dump import dump
from sluice.spark.job import arguments, run
from sluice.spark.loading import load


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    return arguments(__doc__, slaves="+")


if __name__ == "__main__":
    run(parser(), lambda context, options: dump(context, options.source, options.slaves, load))
