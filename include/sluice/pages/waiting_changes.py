"""The page *Waiting changes* of a slave, and the same by REST: the first changes in its holdback."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from sluice.model.access import Right
from sluice.model.names import Pair
from sluice.monitor.waiting_changes import WaitingChanges, read_waiting
from sluice.pages import entry, html
from sluice.pages.entry import airflow, needs
from sluice.pages.rest import PROBLEMS

router = APIRouter()


def first(request: Request, source: str, slave: str) -> WaitingChanges:
    """The changes that wait for a slave, as the visitor may see them."""
    return read_waiting(airflow(request).context(), Pair(source, slave), values=entry.sees_values(request))


First = Annotated[WaitingChanges, Depends(first)]


@router.get("/waiting/{source}/{slave}", dependencies=[needs(Right.READ)], include_in_schema=False)
def page(request: Request, source: str, slave: str, changes: First) -> Response:
    """The first changes that a slave lacks."""
    values = {"found": changes, "sees": entry.sees_values(request)}
    return html.page(request, "waiting.html", source=source, slave=slave, **values)


@router.get(
    "/api/v1/replications/{source}/{slave}/waiting",
    dependencies=[needs(Right.READ)],
    responses=PROBLEMS,
    tags=["sluice"],
)
def waiting_for_slave(changes: First) -> WaitingChanges:
    """The first 50 changes that wait for the slave; administrators alone see values, as the master wrote them."""
    return changes
