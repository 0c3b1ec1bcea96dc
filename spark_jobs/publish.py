"""Spark job: publish what a source has queued, for as long as its schedule says."""

import argparse
from functools import partial

from sluice.context import Context
from sluice.monitor.signals import publisher_samples
from sluice.publish.run import publish
from sluice.spark.job import arguments, run
from sluice.spark.signals import Teller
from sluice.spark.step_factory import steps


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__)
    options.add_argument("--once", action="store_true", help="end as soon as nothing is queued")
    return options


def work(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """Publish, and say meanwhile how far the log is."""
    tell = Teller(partial(publisher_samples, context, options.source))
    done = publish(context, options.source, once=options.once, signal=tell, steps=steps(context))
    tell.end()
    return done


if __name__ == "__main__":
    run(parser(), work)
