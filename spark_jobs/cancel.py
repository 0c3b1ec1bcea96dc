"""Spark job: end the initial updates of slaves."""

import argparse

from sluice.initial_update.cancel import cancel
from sluice.spark.job import arguments, run


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="+")
    options.add_argument("--who", help="who wants it")
    return options


if __name__ == "__main__":
    run(parser(), lambda context, options: vars(cancel(context, options.source, options.slaves, options.who)))
