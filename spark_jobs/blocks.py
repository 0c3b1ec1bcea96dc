"""Spark job: load what slaves get block by block, while their stream goes on; nothing if there is no such table."""

import argparse

from sluice.context import Context
from sluice.initial_update.blocks.load import load_online
from sluice.spark import lineage
from sluice.spark.job import arguments, run
from sluice.spark.load_tasks import load_blocks
from sluice.store import updates


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    return arguments(__doc__, slaves="+")


def work(context: Context, options: argparse.Namespace) -> dict[str, dict[str, int]]:
    """Load the blocks, and say which tables have rows now."""
    done = load_online(context, options.source, options.slaves, load_blocks)
    for slave, update in done["filled"].items():
        lineage.tell(context, options.source, [slave], updates.tables(context.store, update))
    return done


if __name__ == "__main__":
    run(parser(), work)
