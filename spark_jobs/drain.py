"""Spark job: deliver a source's change log to one slave, for as long as its schedule says."""

import argparse
from functools import partial

from sluice.context import Context
from sluice.drain.run import drain
from sluice.model.names import Pair
from sluice.monitor.signals import drain_samples
from sluice.monitor.status import brief
from sluice.spark import lineage
from sluice.spark.job import arguments, run
from sluice.spark.signals import Teller
from sluice.spark.step_factory import steps


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="1")
    options.add_argument("--once", action="store_true", help="end as soon as all is delivered")
    return options


def work(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """Deliver, and say in the run's note where the slave stands."""
    pair = Pair(options.source, options.slave)
    tell = Teller(partial(drain_samples, context, pair))
    describe = partial(brief, context, pair)
    done = drain(context, pair, once=options.once, describe=describe, signal=tell, steps=steps(context))
    tell.end()
    if done["transactions"]:
        lineage.tell(context, pair.source, [pair.slave])
    return done


if __name__ == "__main__":
    run(parser(), work)
