"""Spark job: copy the watched tables of a source to slaves, or into files for them, in one snapshot, chunk by chunk."""

import argparse
from typing import Any

from sluice.context import Context
from sluice.initial_update.dump import dump, filled_slaves
from sluice.initial_update.options import MODES, SNAPSHOT
from sluice.spark import lineage
from sluice.spark.job import arguments, run
from sluice.spark.load_tasks import load
from sluice.store import updates


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="+")
    options.add_argument("--mode", choices=MODES, default=SNAPSHOT, help="how rows come")
    options.add_argument("--resume", action="store_true", help="go on where an earlier update broke off")
    options.add_argument("--version", default="", help="of the source, prefix_Ver_x; else the newest")
    options.add_argument("--store", action="store_true", help="into files, which are carried to the slaves by hand")
    return options


def work(context: Context, options: argparse.Namespace) -> dict[str, Any]:
    """Fill the slaves, and say which tables they have now, unless rows come later, or by hand."""
    done = dump(
        context,
        options.source,
        options.slaves,
        load,
        mode=options.mode,
        store=options.store,
        resume=options.resume,
        version=options.version,
    )
    slaves = filled_slaves(done, options.slaves, options.mode, store=options.store)
    lineage.tell(context, options.source, slaves, updates.tables(context.store, done["update"]))
    return done


if __name__ == "__main__":
    run(parser(), work)
