"""Spark job: deliver a source's change log to one slave, for as long as its schedule says."""

import argparse

from sluice.drain.run import drain
from sluice.model.names import Pair
from sluice.spark.job import arguments, run


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="1")
    options.add_argument("--once", action="store_true", help="end as soon as all is delivered")
    return options


if __name__ == "__main__":
    run(parser(), lambda context, options: drain(context, Pair(options.source, options.slave), once=options.once))
