"""REST of comparisons: what their pages show as JSON, and the rows that one keeps, as JSON or Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from sluice.model.access import Right
from sluice.model.names import Pair
from sluice.model.row_difference import KINDS, Kind
from sluice.model.row_numbers import RowNumbers
from sluice.monitor import comparison_status
from sluice.monitor.comparison_status import ComparisonPage, ComparisonReport, RowPage
from sluice.pages import comparison_files
from sluice.pages.comparisons import Listed, Number, Rows, Shown
from sluice.pages.entry import airflow, needs
from sluice.pages.rest import PROBLEMS, Receipt, command_ports, storable
from sluice.repair import chosen_rows, rule_choice
from sluice.repair.plan import expect_ready

router = APIRouter(prefix="/api/v1", tags=["sluice"])
_ONE = "/comparisons/{source}/{slave}/{number}"
_JSON, _PARQUET = "application/json", "application/vnd.apache.parquet"
_KEPT = {"rows": {"type": "array", "items": {"type": "object"}}, "more": {"type": "integer"}}
_OBJECT = {"schema": {"type": "object", "properties": _KEPT}}
_BYTES = {"schema": {"type": "string", "format": "binary"}}


def _row_numbers(text: str) -> str:
    """Numbers of rows in fewest words. Raises ValueError."""
    return str(RowNumbers.parse(text))


class Repair(BaseModel):
    """The rows to repair of a comparison: of all its tables and of all kinds, if none is named.

    Attributes:
        rows: numbers of rows of one table, such as "3, 5, 10-20": these alone; all if it is null.
        rule: which side's row wins where both databases are masters of each other; the source's if it is null.
        column: of the source's tables, that the rule `newest` compares.
        dry_run: change nothing; the result of the run has the statements.
    """

    model_config = ConfigDict(extra="forbid")

    tables: list[str] = []
    kinds: list[Kind] = []
    rows: Annotated[str, Field(max_length=10_000), AfterValidator(_row_numbers)] | None = None
    rule: Literal["source", "slave", "newest", "plugin"] | None = None
    column: Annotated[str, Field(max_length=250), AfterValidator(storable)] | None = None
    dry_run: bool = False


@router.get("/comparisons/{source}", dependencies=[needs(Right.READ)], responses=PROBLEMS)
def comparisons(listing: Listed) -> ComparisonPage:
    """The comparisons of a source, the newest first; `older` is the `before` of the next page."""
    return listing


@router.get(_ONE, dependencies=[needs(Right.READ)], responses=PROBLEMS)
def comparison(report: Shown) -> ComparisonReport:
    """One comparison of a slave, table by table, those that differ first."""
    return report


@router.get(f"{_ONE}/rows", dependencies=[needs(Right.READ)], responses=PROBLEMS)
def comparison_rows(row_page: Rows) -> RowPage:
    """Rows of a table that differ; `next` is the `after` of the next page. Administrators alone see keys and values."""
    return row_page


@router.get(
    f"{_ONE}/rows.json",
    dependencies=[needs(Right.ADMINISTER)],
    responses={**PROBLEMS, 200: {"content": {_JSON: _OBJECT}}},
)
def rows_as_json(request: Request, source: str, slave: str, number: Number) -> Response:
    """The rows that the report keeps, of all tables, as one JSON document, a row a line; `more` are not kept."""
    name = f"comparison_{source}_{slave}_{number}.json"
    return _file(comparison_files.as_json(airflow(request).context(), Pair(source, slave), number), _JSON, name)


@router.get(
    f"{_ONE}/rows.parquet",
    dependencies=[needs(Right.ADMINISTER)],
    response_class=StreamingResponse,
    responses={**PROBLEMS, 200: {"content": {_PARQUET: _BYTES}}},
)
def rows_as_parquet(request: Request, source: str, slave: str, number: Number) -> Response:
    """The rows that the report keeps, as a Parquet file; `more` is in its metadata."""
    name = f"comparison_{source}_{slave}_{number}.parquet"
    return _file(comparison_files.as_parquet(airflow(request).context(), Pair(source, slave), number), _PARQUET, name)


@router.post("/replications/{source}/{slave}/compare", dependencies=[needs(Right.COMPARE)], responses=PROBLEMS)
def compare(request: Request, source: str, slave: str) -> Receipt:
    """Compare every watched table of the slave with its master: the DAG `verify`, in the name of the person."""
    context, dags = command_ports(request)
    context.config.replication(source, slave)
    run = dags.trigger("verify", {"source": source, "slaves": [slave]})
    return Receipt(done=f"{slave} is being compared", run=f"{context.config.dag_id('verify')}/{run}")


@router.post(f"{_ONE}/repair", dependencies=[needs(Right.ADMINISTER)], responses=PROBLEMS)
def repair(request: Request, source: str, slave: str, number: Number, wanted: Repair) -> Receipt:
    """Make rows of the slave that differ those of its master; the DAG `repair`, in the name of the person."""
    context, dags = command_ports(request)
    pair = Pair(source, slave)
    reports = comparison_status.expect_tables(context, pair, number, wanted.tables)
    expect_ready(context, pair)
    rule_choice.choose(wanted.rule, wanted.column)
    if wanted.rows is not None:
        rows = RowNumbers.parse(wanted.rows)
        chosen_rows.expect_alone(rows, number, wanted.kinds or KINDS)
        odd = [table for name, table in reports.items() if table.different and name in (wanted.tables or reports)]
        chosen_rows.read(context.store, pair, chosen_rows.one_table(odd), rows)
    chosen = {name: value for name, value in wanted.model_dump().items() if value}
    if {name for name, table in reports.items() if table.different} <= set(wanted.tables):
        # The same in fewer words, which a form takes that does not know the name of a table.
        chosen.pop("tables", None)
    run = dags.trigger("repair", {"source": source, "slave": slave, "report": number, **chosen})
    what = "the statements are being written down" if wanted.dry_run else "rows are being repaired"
    return Receipt(done=f"{slave}: {what}", run=f"{context.config.dag_id('repair')}/{run}")


def _file(parts: Iterator[bytes], kind: str, name: str) -> Response:
    return StreamingResponse(parts, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
