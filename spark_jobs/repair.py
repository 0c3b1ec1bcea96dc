"""Spark job: repair rows of a slave that differ from the master's, and compare again."""

import argparse

from sluice.context import Context
from sluice.model.direction import RULES
from sluice.model.row_difference import KINDS
from sluice.repair import chosen_rows, rule_choice
from sluice.repair.run import RepairRequest, repair
from sluice.spark.compare_tasks import compare_all
from sluice.spark.job import arguments, run, table_options
from sluice.spark.step_factory import steps


def parser() -> argparse.ArgumentParser:
    """The arguments of this job."""
    options = arguments(__doc__, slaves="1")
    table_options(options)
    options.add_argument("--report", type=int, help="of a comparison; else one is made first")
    options.add_argument("--kinds", nargs="+", action="extend", choices=KINDS, default=[], help="of rows to repair")
    options.add_argument("--rule", choices=RULES, help="which side's row wins where both are masters")
    options.add_argument("--column", help="that the rule newest compares")
    options.add_argument("--dry-run", action="store_true", help="print the statements, and change nothing")
    options.add_argument("--rows", help="of one table of the report, these alone: 3, 5, 10-20")
    options.add_argument("--who", help="who asked for it, if not this run")
    return options


def call(context: Context, options: argparse.Namespace) -> dict[str, object]:
    """The request that the arguments stand for."""
    wanted = RepairRequest(
        options.source,
        options.slave,
        tuple(sorted(options.tables)),
        options.report,
        tuple(options.kinds) or KINDS,
        options.dry_run,
        options.who,
        chosen_rows.numbers(options.rows) if options.rows is not None else None,
        rule_choice.choose(options.rule, options.column),
    )
    return repair(context, wanted, compare_all, steps=steps(context))


if __name__ == "__main__":
    run(parser(), call)
