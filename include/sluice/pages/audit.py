"""The page *Audit*: who did what, and when."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BeforeValidator, Field

from sluice.model.access import Right
from sluice.pages import html
from sluice.pages.entry import airflow, needs
from sluice.store import audit_trail
from sluice.store.audit_trail import AuditFilter

router = APIRouter(include_in_schema=False)
DAYS = (1, 7, 30, 365)


def _or_empty(number: Any) -> BeforeValidator:
    """A form without script sends its empty fields as well."""
    return BeforeValidator(lambda value: value or None, json_schema_input_type=number | Literal[""] | None)


# The bounds are of the number: nothing has none.
_Number = Annotated[int, Field(ge=1, le=36_500)]
_Id = Annotated[int, Field(ge=1, lt=2**63)]
_Days = Annotated[_Number | None, _or_empty(_Number), Query(description="not older than so many days")]
_Before = Annotated[_Id | None, _or_empty(_Id), Query(description="older than the entry of this id")]
_Person = Annotated[str, Query(description="a part of the name of the person, or of the run")]
_Event = Annotated[str, Query(description="how the event begins")]


def parse_query(
    source: str = "",
    slave: str = "",
    person: _Person = "",
    event: _Event = "",
    days: _Days = None,
    before: _Before = None,
) -> AuditFilter:
    """The entries that a query asks for."""
    return AuditFilter(source.strip(), slave.strip(), person.strip(), event.strip(), days, before)


Asked = Annotated[AuditFilter, Depends(parse_query)]


@router.get("/audit", dependencies=[needs(Right.ADMINISTER)])
def audit(request: Request, asked: Asked) -> Response:
    """The newest entries that a query asks for."""
    context = airflow(request).context()
    entries = audit_trail.page(context.store, asked)
    kept = {name: value for name, value in asdict(asked).items() if value and name != "before"}
    # Also names that the configuration has no more.
    sources = sorted({*context.config.sources, *filter(None, [asked.source])})
    slaves = sorted({*context.config.slaves, *filter(None, [asked.slave])})
    older = urlencode(kept | {"before": entries.older}) if entries.older else ""
    shown = {"found": entries, "asked": asked, "older": older, "newest": urlencode(kept)}
    return html.page(request, "audit.html", sources=sources, slaves=slaves, all_days=DAYS, **shown)
