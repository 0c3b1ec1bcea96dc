"""Spark job: copy the watched tables of a source to slaves, or into files for them, in one snapshot, chunk by chunk."""

import argparse

from sluice.initial_update.dump import dump
from sluice.initial_update.options import MODES, SNAPSHOT, mode_named
from sluice.spark.job import arguments, run
from sluice.spark.load_tasks import load


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="+")
    options.add_argument("--mode", type=mode_named, choices=MODES, default=SNAPSHOT, help="how rows come")
    options.add_argument("--resume", action="store_true", help="go on where an earlier update broke off")
    options.add_argument("--version", default="", help="of the source, prefix_Ver_x; else the newest")
    options.add_argument("--store", action="store_true", help="into files, which are carried to the slaves by hand")
    return options


if __name__ == "__main__":
    run(
        parser(),
        lambda context, options: dump(
            context,
            options.source,
            options.slaves,
            load,
            mode=options.mode,
            store=options.store,
            resume=options.resume,
            version=options.version,
        ),
    )
