"""The page *Tables*: the activity of a source's tables, and how their copies are."""

from __future__ import annotations

from enum import StrEnum

from fastapi import APIRouter, Request, Response

from sluice.model.access import Right
from sluice.monitor import table_status
from sluice.monitor.table_status import TableStatus
from sluice.pages import html
from sluice.pages.entry import airflow, needs

router = APIRouter(include_in_schema=False)


class Order(StrEnum):
    """The columns by which tables can be sorted; all but the name begin with the most."""

    NAME = "name"
    TOTAL = "total"
    DAY = "day"
    HOUR = "hour"
    CONFLICTS = "conflicts"
    REJECTED = "rejected"
    DIFFERENT = "different"


_KEYS = {
    Order.TOTAL: lambda table: -table.activity.ever.total,
    Order.DAY: lambda table: -table.activity.day.total,
    Order.HOUR: lambda table: -table.activity.hour.total,
    Order.CONFLICTS: lambda table: -table.conflicts,
    Order.REJECTED: lambda table: -table.rejections,
    Order.DIFFERENT: lambda table: -table.worst_comparison.different if table.worst_comparison else 1,
}


@router.get("/tables/{source}", dependencies=[needs(Right.READ)])
def tables(request: Request, source: str, q: str = "", sort: str = "") -> Response:
    """The tables of a source whose names contain a text."""
    context = airflow(request).context()
    order = Order(sort) if sort in set(Order) else Order.NAME
    rows: list[TableStatus] = table_status.tables(context, source)
    shown = [table for table in rows if q.strip().lower() in table.name.lower()]
    if order in _KEYS:
        shown.sort(key=_KEYS[order])
    values = {"rows": rows, "shown": shown, "text": q, "order": order, "Order": Order}
    return html.page(request, "tables.html", source=source, sources=list(context.config.sources), **values)
