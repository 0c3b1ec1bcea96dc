"""The page *Rejected changes* of a slave, and the same by REST: what it did not carry out, and what becomes of that."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from sluice.model.access import Right
from sluice.model.names import Pair
from sluice.monitor import rejected_status
from sluice.monitor.rejected_status import KeptRows
from sluice.pages import entry, html
from sluice.pages.entry import airflow, needs
from sluice.pages.rest import PROBLEMS, Receipt, command_ports

router = APIRouter()
_REST = "/api/v1/replications/{source}/{slave}/rejected"
_Number = Annotated[int, Field(ge=1, lt=2**63)]


class RejectedAction(BaseModel):
    """What becomes of changes that a slave rejected.

    Attributes:
        numbers: which ones; if none are named, all that were kept up to `through`.
        through: the `newest` that was shown: nobody has seen later ones.
    """

    model_config = ConfigDict(extra="forbid")

    action: Literal["carry_out", "drop"]
    numbers: Annotated[list[_Number], Field(max_length=500)] = []
    through: _Number


def read_kept(
    request: Request, source: str, slave: str, after: Annotated[int, Query(ge=0, lt=2**31, description="pass over")] = 0
) -> KeptRows:
    """The kept changes, as the visitor may see them."""
    values = entry.sees_values(request)
    return rejected_status.read_kept(airflow(request).context(), Pair(source, slave), after, values=values)


Kept = Annotated[KeptRows, Depends(read_kept)]


@router.get("/rejected/{source}/{slave}", dependencies=[needs(Right.READ)], include_in_schema=False)
def rejected_page(request: Request, source: str, slave: str, page: Kept, after: int = 0) -> Response:
    """The changes that a slave did not carry out, in the order of the stream."""
    values = {"found": page, "after": after, "sees": entry.sees_values(request)}
    return html.page(request, "rejected.html", source=source, slave=slave, **values)


@router.get(_REST, dependencies=[needs(Right.READ)], responses=PROBLEMS, tags=["sluice"])
def rejected_changes(page: Kept) -> KeptRows:
    """Changes that the slave did not carry out, 50 a page; administrators alone see values."""
    return page


@router.post(_REST, dependencies=[needs(Right.ADMINISTER)], responses=PROBLEMS, tags=["sluice"])
def settle_rejected(request: Request, source: str, slave: str, wanted: RejectedAction) -> Receipt:
    """Carry changes out that the slave rejected, or forget them: the DAG `administer`, in the name of the person."""
    context, dags = command_ports(request)
    rejected_status.expect_kept(context, Pair(source, slave))
    which = {"numbers": [str(number) for number in wanted.numbers]} if wanted.numbers else {"through": wanted.through}
    run = dags.trigger("administer", {"source": source, "slave": slave, "rejected": wanted.action, **which})
    what = "are being carried out" if wanted.action == "carry_out" else "are being dropped"
    return Receipt(done=f"rejected changes of {slave} {what}", run=f"{context.config.dag_id('administer')}/{run}")
