"""The words of the command `repair`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sluice.model.direction import RULES
from sluice.model.row_difference import KINDS

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def add(commands: Commands) -> None:
    """Add the command to a parser."""
    repair = commands.add_parser("repair", help="make the rows of a slave that differ those of its master")
    repair.add_argument("source", metavar="SOURCE", help="its name in the configuration")
    repair.add_argument("slave", metavar="SLAVE", help="its name in the configuration")
    repair.add_argument("--from", dest="report", type=int, metavar="REPORT", help="of a comparison; else compare first")
    repair.add_argument("--table", dest="tables", action="append", default=[], metavar="TABLE", help="repeatable")
    repair.add_argument(
        "--kind", dest="kinds", action="append", default=[], choices=KINDS, help="of rows; repeatable; else all"
    )
    repair.add_argument(
        "--rows", metavar="NUMBERS", help="of one table of the report, these alone, as 3,5,10-20; --dry-run shows them"
    )
    repair.add_argument("--rule", choices=list(RULES), help="which row wins where both sides are masters; else source")
    repair.add_argument(
        "--column", metavar="COLUMN", help="that the rule newest compares, such as the time of a change"
    )
    repair.add_argument("--dry-run", action="store_true", help="print the statements for the last report, or this one")
    repair.set_defaults(run=_repair)


def _repair(options: argparse.Namespace) -> int:
    from sluice.cli import repair_command

    chosen = repair_command.Chosen(
        tuple(options.tables), tuple(options.kinds), options.report, options.rows, options.rule, options.column
    )
    return repair_command.repair(options.source, options.slave, chosen, dry_run=options.dry_run)
