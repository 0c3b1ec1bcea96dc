"""The preview of the *Initial update* page, as a part of it that its script asks for, and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response

from sluice.bounded_calls import BoundedCalls
from sluice.initial_update.preflight import UpdateChoices
from sluice.initial_update.preview import Preview, preview
from sluice.model.access import Right
from sluice.model.names import Pair
from sluice.pages import html
from sluice.pages.entry import airflow, needs
from sluice.pages.rest import PROBLEMS

router = APIRouter()
_Slaves = Annotated[list[str] | None, Query(description="slaves of the source; may be given several times")]


@dataclass(frozen=True)
class PlannedUpdate:
    """The update that a person thinks of."""

    source: str
    slaves: list[str]
    choices: UpdateChoices


def parse_query(
    source: str,
    slave: _Slaves = None,
    mode: Literal["snapshot", "online", "external"] = "snapshot",
    resume: Annotated[bool, Query()] = False,
) -> PlannedUpdate:
    """The update that a query asks for."""
    return PlannedUpdate(source, list(dict.fromkeys(slave or ())), UpdateChoices(mode=mode, resume=resume))


Asked = Annotated[PlannedUpdate, Depends(parse_query)]


@router.get("/parts/preview", dependencies=[needs(Right.FILL)], include_in_schema=False)
def part(request: Request, asked: Asked) -> Response:
    """The preview as a part of the page."""
    return html.page(request, "preview.html", found=_preview(request, asked))


@router.get("/api/v1/initial-updates/preview", dependencies=[needs(Right.FILL)], responses=PROBLEMS, tags=["sluice"])
def plan(request: Request, asked: Asked) -> Preview:
    """What an initial update would bring and replace; nothing is changed. The master's server estimates the sizes."""
    return _preview(request, asked)


def _preview(request: Request, asked: PlannedUpdate) -> Preview:
    calls: BoundedCalls[Pair | str] = request.app.state.previews
    return preview(airflow(request).context(), calls, asked.source, asked.slaves, asked.choices)
