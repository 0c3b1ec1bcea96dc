"""Spark job: shut the gates of slaves for an initial update."""

import argparse

from sluice.context import Context
from sluice.initial_update.inhibit import InhibitRequest, inhibit
from sluice.initial_update.options import MODES
from sluice.spark.job import arguments, in_task, key_options, run, table_options


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="+")
    options.add_argument("--force", action="store_true", help="cancel the updates that they are in")
    options.add_argument("--mode", choices=MODES, default="", help="how rows come")
    options.add_argument("--store", action="store_true", help="into files")
    options.add_argument("--version", default="", help="of the source, prefix_Ver_x; else the newest")
    options.add_argument("--resume", action="store_true", help="keep what is held back: it may go on with it")
    options.add_argument("--cascade", default="", help="source/slave that is filled after them, or `none`")
    options.add_argument("--after", action="append", default=[], metavar="REPLICATION", help="what led to this update")
    table_options(options)
    key_options(options)
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """The update that the arguments ask for."""
    request = InhibitRequest(
        options.tables,
        options.keys,
        options.mode,
        options.store,
        options.version,
        options.force,
        options.resume,
        options.cascade,
        options.after,
    )
    return inhibit(context, options.source, options.slaves, request, in_task(context, options))


if __name__ == "__main__":
    run(parser(), call)
