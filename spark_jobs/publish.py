"""Spark job: publish what a source has queued, for as long as its schedule says."""

import argparse

from sluice.publish.run import publish
from sluice.spark.job import arguments, run
from sluice.spark.steps import steps


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__)
    options.add_argument("--once", action="store_true", help="end as soon as nothing is queued")
    return options


if __name__ == "__main__":
    run(parser(), lambda context, options: publish(context, options.source, once=options.once, steps=steps(context)))
