"""The page *Health*: what `./sluice check` says, as the API server finds it."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from sluice.model.access import Right
from sluice.monitor.health import Health, HealthReport, HealthState
from sluice.pages import html
from sluice.pages.entry import airflow, needs

router = APIRouter(include_in_schema=False)


@router.get("/health", dependencies=[needs(Right.READ)])
def health(request: Request) -> Response:
    """Everything that is configured, what is wrong first. It needs no control store."""
    return html.page(request, "health.html", report=report(request), State=HealthState)


def report(request: Request) -> HealthReport:
    """The last report; a new round begins if it is old."""
    state: Health = request.app.state.health
    state.look(airflow(request).context())
    return state.report()


def again(request: Request) -> bool:
    """Begin another round; False if one is under way."""
    state: Health = request.app.state.health
    return state.again(airflow(request).context())
