"""The pages *Statements*: a source's statements, one of them with every node's answer, and the form to ask for one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field

from sluice.model.access import Right
from sluice.monitor import statement_status
from sluice.monitor.statement_status import StatementPage, StatementStatusReport
from sluice.pages import entry, html
from sluice.pages.entry import airflow, needs
from sluice.statements import issue
from sluice.store.statement_results import StatementStatus

router = APIRouter(include_in_schema=False)
_Number = Annotated[int, Field(ge=1, lt=2**63)]
_Older = Annotated[_Number | None, Query(description="before this one")]


def list_statements(request: Request, source: str, before: _Older = None) -> StatementPage:
    """The newest statements of a source, as the visitor may see them."""
    values = entry.sees_values(request)
    return statement_status.list_statements(airflow(request).context(), source, before, values=values)


def read_statement(request: Request, source: str, number: int) -> StatementStatusReport:
    """One statement, as the visitor may see it."""
    values = entry.sees_values(request)
    return statement_status.read_statement(airflow(request).context(), source, number, values=values)


Listed = Annotated[StatementPage, Depends(list_statements)]
Shown = Annotated[StatementStatusReport, Depends(read_statement)]


@router.get("/statements/{source}", dependencies=[needs(Right.READ)])
def statements(request: Request, source: str, page: Listed, before: _Older = None) -> Response:
    """The statements of a source, the newest first."""
    context = airflow(request).context()
    values = {"found": page, "before": before, "sources": list(context.config.sources), "Answered": StatementStatus}
    return html.page(request, "statements.html", source=source, **values)


@router.get("/statements/{source}/issue", dependencies=[needs(Right.ADMINISTER)])
def form(request: Request, source: str) -> Response:
    """The form by which an administrator asks for a statement."""
    context = airflow(request).context()
    most = context.config.source(source).statement_max_rows
    slaves = issue.slaves_of(context, source)
    left = [slave for slave in context.config.slaves_of(source) if slave not in slaves]
    shown = {"slaves": slaves, "left": left, "sources": list(context.config.sources), "most": most}
    return html.page(request, "statement_form.html", source=source, **shown)


@router.get("/statements/{source}/{number}", dependencies=[needs(Right.READ)])
def statement(request: Request, report: Shown) -> Response:
    """One statement, with every node's answer."""
    return html.page(request, "statement.html", one=report, source=report.source, Answered=StatementStatus)
