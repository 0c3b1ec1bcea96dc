"""Spark job: compare slaves with their master, value by value, at one point of the stream."""

import argparse

from sluice.context import Context
from sluice.model.key_range import KeyInterval
from sluice.spark.compare_tasks import compare_all
from sluice.spark.job import arguments, key_options, row_options, run, table_options
from sluice.verify.checkpoints import this_run
from sluice.verify.ranges import parse
from sluice.verify.run import VerifyRequest, verify


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="+")
    table_options(options)
    key_options(options)
    row_options(options)
    options.add_argument("--initial", action="store_true", help="end an initial update: NORMAL if nothing differs")
    options.add_argument("--update", type=int, default=0, help="the initial update that may end; else any")
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """The request that the arguments stand for."""
    # What was not to be filled may differ as well, in the tables of these keys.
    tables = {*options.tables, *(KeyInterval.parse(text).table for text in options.keys)}
    request = VerifyRequest(
        options.source,
        tuple(options.slaves),
        tuple(sorted(tables)),
        percent=options.sample,
        initial=options.initial,
        update=options.update,
        confidence=options.confidence,
        at_most=options.at_most,
        ranges=parse(options.ranges),
        since=options.since,
        run=this_run(),
    )
    # After an initial update, a role that may only read has perhaps no right on new tables yet.
    reading = context if options.initial else context.for_reading(request.source, request.slaves)
    return verify(reading, request, compare_all)


if __name__ == "__main__":
    run(parser(), call)
