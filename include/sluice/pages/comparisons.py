"""The pages *Comparisons*: those of a source, and one of them with its rows that differ, side by side."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field

from sluice import shell
from sluice.model.access import Right
from sluice.model.names import Pair, TableName
from sluice.model.row_difference import KINDS, REPAIRED, WHERE
from sluice.model.row_numbers import RowNumbers
from sluice.model.watched import split_table
from sluice.monitor import comparison_status
from sluice.monitor.comparison_status import ComparisonPage, ComparisonReport, RowPage
from sluice.pages import entry, html
from sluice.pages.entry import airflow, needs
from sluice.repair.plan import unfit
from sluice.repair.rule_choice import available_rules

router = APIRouter(include_in_schema=False)
Number = Annotated[int, Field(ge=1, lt=2**63)]
_Before = Annotated[
    str | None,
    Query(pattern=r"^[0-9]{1,18}/[a-z][a-z0-9_]{0,39}$", description="older than this one: its number/slave"),
]
After = Annotated[int | None, Query(ge=0, lt=2**31 - 1, description="those behind this number")]
_Rows = Annotated[list[Annotated[int, Field(ge=0, lt=2**31)]] | None, Query(max_length=1_000, description="numbers")]
# Columns of a row that a page shows.
_MOST = 12


def list_comparisons(request: Request, source: str, slave: str = "", before: _Before = None) -> ComparisonPage:
    """The newest comparisons of a source, or of one slave of it."""
    return comparison_status.list_comparisons(airflow(request).context(), source, slave, before)


def read_comparison(request: Request, source: str, slave: str, number: Number) -> ComparisonReport:
    """One comparison of a slave."""
    values = entry.sees_values(request)
    return comparison_status.read_comparison(airflow(request).context(), Pair(source, slave), number, values=values)


def rows(request: Request, source: str, slave: str, number: Number, table: str, after: After = None) -> RowPage:
    """Rows that differ, as the visitor may see them."""
    pair = Pair(source, slave)
    values = entry.sees_values(request)
    return comparison_status.rows(airflow(request).context(), pair, number, table, after, values=values)


Listed = Annotated[ComparisonPage, Depends(list_comparisons)]
Shown = Annotated[ComparisonReport, Depends(read_comparison)]
Rows = Annotated[RowPage, Depends(rows)]


@router.get("/comparisons/{source}", dependencies=[needs(Right.READ)])
def comparisons(request: Request, source: str, listing: Listed, slave: str = "", before: _Before = None) -> Response:
    """The comparisons of a source, the newest first."""
    config = airflow(request).context().config
    values = {"found": listing, "slave": slave, "before": before, "slaves": config.slaves_of(source)}
    return html.page(request, "comparisons.html", source=source, sources=list(config.sources), **values)


@router.get("/comparisons/{source}/{slave}/{number}/repair", dependencies=[needs(Right.ADMINISTER)])
def repair(request: Request, source: str, slave: str, number: Number, table: str = "", row: _Rows = None) -> Response:
    """The form by which an administrator has rows of a comparison repaired, or those of a table that were ticked."""
    context, pair = airflow(request).context(), Pair(source, slave)
    report, kept = comparison_status.with_row_counts(context, pair, number)
    if error := unfit(context, pair):
        raise error
    ticked = comparison_status.count_ticked(context, pair, number, table, RowNumbers.from_numbers(row)) if row else {}
    lacking = [table.table for table in report.tables if sum(kept[table.table].values()) < table.different]
    odd = [TableName(*split_table(table.table)) for table in report.tables if table.different]
    values = {
        "kept": kept,
        "rules": available_rules(context, pair, odd),
        "named": sum(sum(counts.values()) for counts in kept.values()),
        "fill": shell.update(report.source, [report.slave], tables=lacking),
        "dag": context.config.dag_id("repair"),
        "table": table,
        "numbers": RowNumbers.from_numbers(row or []),
        "ticked": ticked,
    }
    return html.page(request, "repair.html", one=report, kinds=KINDS, where=WHERE, repaired=REPAIRED, **values)


@router.get("/comparisons/{source}/{slave}/{number}", dependencies=[needs(Right.READ)])
def comparison(
    request: Request, source: str, slave: str, number: Number, table: str = "", after: After = None
) -> Response:
    """One comparison of a slave, and the rows that differ of one of its tables."""
    context, pair, sees = airflow(request).context(), Pair(source, slave), entry.sees_values(request)
    report, chosen, row_page = comparison_status.with_rows(context, pair, number, table, after, values=sees)
    values = {"chosen": chosen, "found": row_page, "after": after, "most": _MOST, "sees": sees}
    unrepairable = unfit(context, pair)
    # A row without a key is none that could be named.
    values["pick"] = sees and not unrepairable and chosen.keyed
    return html.page(request, "comparison.html", one=report, unrepairable=unrepairable, where=WHERE, **values)
