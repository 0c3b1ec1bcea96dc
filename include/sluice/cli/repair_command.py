"""The command `repair`: it triggers the DAG and waits for it, or prints what that would do."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

from sluice.cli import airflow_commands
from sluice.cli.context import context as cli_context
from sluice.errors import SluiceError
from sluice.model.names import Pair, TableName
from sluice.model.row_difference import KINDS
from sluice.model.watched import split_table
from sluice.outside_text import in_one_line, say
from sluice.repair import chosen_rows, rule_choice
from sluice.repair.plan import LeftOut, plan
from sluice.store import comparisons


@dataclass(frozen=True)
class Chosen:
    """The rows to repair: of these tables, kinds and report; of all tables and kinds that differ if none is named.

    Attributes:
        rows: numbers of rows of one table of the report, as people write them; these alone.
        rule: which side's row wins.
        column: that the rule `newest` compares.
    """

    tables: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    report: int | None = None
    rows: str | None = None
    rule: str | None = None
    column: str | None = None


def repair(source: str, slave: str, rows: Chosen, *, dry_run: bool) -> int:
    """Repair rows of a slave. 0 if no rows of these tables and kinds differ then.

    Raises:
        SluiceError: SLC-466, a dry run has no report to tell of; rows are chosen in a way that none has;
            SLC-627, a rule and a column do not go together.
    """
    # A blank is no choice of all rows.
    numbers = chosen_rows.numbers(rows.rows) if rows.rows is not None else None
    chosen_rows.expect_alone(numbers, rows.report, rows.kinds or KINDS)
    rule_choice.choose(rows.rule, rows.column)
    # Which way a row goes is decided at a point, by the job.
    if not dry_run or rows.rule:
        chosen: dict[str, object] = {"source": source, "slave": slave}
        chosen |= {"tables": list(rows.tables)} if rows.tables else {}
        chosen |= {"kinds": list(rows.kinds)} if rows.kinds else {}
        chosen |= {"report": rows.report} if rows.report else {}
        chosen |= {"rows": str(numbers)} if numbers else {}
        chosen |= {"rule": rows.rule} if rows.rule else {}
        chosen |= {"column": rows.column} if rows.column else {}
        chosen |= {"dry_run": True} if dry_run else {}
        return airflow_commands.trigger("repair", [], json.dumps(chosen), wait=True)
    context = cli_context()
    context.config.replication(source, slave)
    pair = Pair(source, slave)
    number = rows.report or comparisons.last(context.store, pair)
    if number is None:
        raise SluiceError(466, f"there is no report of slave {slave}", "trigger verify first; nothing was changed")
    tables = [TableName(*split_table(name)) for name in rows.tables]
    left_out: LeftOut = None if tables or numbers else []
    planned = plan(context, pair, number, tables, rows.kinds or KINDS, numbers, left_out)
    for error in left_out or ():
        say(f"left out: {error}", file=sys.stderr)
    for table in planned:
        for row, text in zip(table.numbers, table.statements(), strict=True):
            say(f"{text} -- row {row} of {in_one_line(str(table.report.table))}")
    count = sum(len(table.rows) for table in planned)
    more = sum(table.more for table in planned)
    beyond = f"; {more:,} more rows differ, which it does not name" if more else ""
    say(f"report {number}: {count:,} statements, nothing was changed{beyond}", file=sys.stderr)
    return 0
