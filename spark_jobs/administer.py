"""Spark job: let a slave go on without what stops it; remove its replication; or decide on changes it rejected."""

import argparse

from sluice.commands import clear_queue, unblock
from sluice.commands.remove_replication import Extent, remove_replication
from sluice.context import Context
from sluice.model.names import Pair
from sluice.spark.job import arguments, run_as_task
from sluice.store import rejected_changes


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="1")
    options.add_argument("--remove-first", type=int, metavar="ORDINAL", help="keep this transaction aside")
    options.add_argument("--skip", metavar="TABLE", help="leave a table of the master out until the slave is filled")
    options.add_argument("--clear-queue", action="store_true", help="discard what waits for the slave")
    options.add_argument("--remove", type=Extent, choices=list(Extent), help="take the replication out of this")
    options.add_argument("--rejected", choices=["carry_out", "drop"], help="what to do with rejected changes")
    options.add_argument("--numbers", type=int, action="append", default=[], metavar="NUMBER", help="of these; or all")
    options.add_argument("--through", type=int, metavar="NUMBER", help="of all, those up to this one")
    options.add_argument("--who", required=True, help="who wants it")
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """The command that the arguments ask for."""
    pair, done = Pair(options.source, options.slave), dict[str, object]()
    if options.remove_first:
        done["removed"] = unblock.remove_first(context, pair, options.remove_first, options.who)
    if options.skip:
        done["skipped"] = str(unblock.skip(context, pair, options.skip, options.who))
    if options.clear_queue:
        done["discarded"] = clear_queue.clear_queue(context, pair, options.who)
    if options.remove:
        done["dropped"] = remove_replication(context, pair, options.remove, options.who)
    which = {"through": options.through, "who": options.who}
    if options.rejected == "carry_out":
        from sluice.commands import retry_rejected  # the one that always moves rows

        done["carried_out"], done["put_right"] = retry_rejected.carry_out(context, pair, options.numbers, **which)
    if options.rejected == "drop":
        done["forgotten"] = rejected_changes.drop(context.store, pair, options.numbers, **which)
    return done


if __name__ == "__main__":
    run_as_task(parser(), call)
