"""The pages: rendered on the server, escaped everywhere, refreshed by a few lines of script."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse, HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.exceptions import HTTPException

from sluice import shell
from sluice.commands.remove_replication import Extent, unfit
from sluice.commands.restart import last_choices
from sluice.context import Context
from sluice.model.access import Right
from sluice.model.byte_size import size
from sluice.model.history import HistoryPoint
from sluice.model.list_column import ListColumn
from sluice.model.names import Pair, TableName
from sluice.model.page_text import FormChoice
from sluice.model.progress import TableState
from sluice.model.row_difference import without_keys
from sluice.model.watched import find_entry
from sluice.monitor.reach import Reach
from sluice.pages import charts, entry, overview, template_filters
from sluice.pages.charts import Span
from sluice.pages.entry import airflow, needs, visitor
from sluice.pages.follow import followed_run
from sluice.pages.overview import LastHour, Sort, View
from sluice.state.condition import ReplicationCondition
from sluice.state.replication import DELIVERING, UNDER_WAY, Status
from sluice.store import (
    audit_trail,
    cascades,
    ddl_questions,
    history,
    rejected_changes,
    watched_tables,
)

router = APIRouter(include_in_schema=False)
HERE = Path(__file__).parent
STATIC = {"pages.css": "text/css", "pages.js": "text/javascript"}
_TRAIL = 12


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=template_filters.visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "age": template_filters.age,
        "figure": template_filters.figure,
        "notes": template_filters.notes,
        "size": size,
        "task": template_filters.task,
        "part": _part,
    }
    environment.globals |= {
        "chart_size": (charts.WIDTH, charts.HEIGHT),
        "spark_size": (charts.SPARK_WIDTH, charts.SPARK_HEIGHT),
    }
    environment.globals |= {"Span": Span, "Right": Right, "Sort": Sort, "Status": Status, "under_way": UNDER_WAY}
    environment.globals |= {"delivering": DELIVERING}
    environment.globals |= {"Condition": ReplicationCondition}
    environment.globals |= {"TableState": TableState, "Column": ListColumn, "Choice": FormChoice}
    return environment


def _part(name: str) -> str:
    """A name as a part of a URL's path."""
    return quote(name, safe="")


_TEMPLATES = _environment()


@router.get("/", dependencies=[needs(Right.READ)])
def replications(
    request: Request,
    q: str = "",
    status: str = "",
    sort: str = "",
    down: Annotated[bool, Query()] = False,
    run: str = "",
) -> Response:
    """The list of replications (guide: "The Replication List Page")."""
    view = View(q, status, Sort(sort) if sort in set(Sort) else None, down)
    hour: LastHour = request.app.state.hour
    rows = overview.list_replications(airflow(request), _reach(request), hour)
    counts = {condition: sum(row.condition is condition for row in rows) for condition in ReplicationCondition}
    settings = airflow(request).context().config.pages
    columns = settings.columns
    shown = {
        "rows": rows,
        "groups": view.group(rows, settings.names),
        "counts": counts,
        "sparks": hour.sparks,
        "columns": columns,
        "followed": followed_run(request, run),
    }
    return page(request, "list.html", view=view, by=_by(view), **shown)


@router.get("/replications/{source}/{slave}", dependencies=[needs(Right.READ)])
def details(request: Request, source: str, slave: str, span: str = "") -> Response:
    """One replication (guide: "The Details Page")."""
    pair = Pair(source, slave)
    keys = entry.sees_values(request)
    status = overview.find_replication(airflow(request), _reach(request), pair, keys=keys)
    context = airflow(request).context()
    events = audit_trail.last(context.store, pair, _TRAIL)
    if not keys:
        events = [replace(event, detail=without_keys(event.detail)) for event in events]
    shown = Span(span) if span in set(Span) else Span.HOURS
    moments = history.series(context.store, pair, seconds=shown.seconds, step_s=shown.step_s)
    live = HistoryPoint(time.time(), status.lag_s, status.holdback, int(status.position.partition("/")[2]))
    drawn = {"span": shown, "charts": charts.charts(moments, live, shown)}
    again = {"again": last_choices(context, pair), "following": cascades.next_pair(context.store, pair)}
    rejected = rejected_changes.counts(context.store, pair).get(pair, 0)
    removal = {"rejected": rejected, "unremovable": unfit(context, pair, Extent.POSITION)}
    # The text of a statement may have values in it.
    asking = ddl_questions.open_question(context.store, pair)
    answers = [shell.dispatcher(pair, answer, asking[0].key) for answer in ("--approve", "--reject")] if asking else []
    asked = {"asking": asking, "answers": answers, "sees": keys}
    more: dict[str, Any] = {**drawn, **again, **removal, **asked}
    return page(request, "details.html", one=status, trail=events, config=context.config, **more)


@router.get("/initial-update", dependencies=[needs(Right.FILL)])
def initial_update(request: Request, source: str = "", slave: str = "") -> Response:
    """The form of an initial update (guide: "The Initial Update Page")."""
    context = airflow(request).context()
    config = context.config
    wanted = source if source in config.sources else next(iter(config.sources))
    every = overview.list_replications(airflow(request), _reach(request))
    rows = {row.slave: row for row in every if row.source == wanted}
    shown: dict[str, Any] = {
        "slaves": config.slaves_of(wanted),
        "slave": slave,
        "rows": rows,
        "tables": _tables(context, wanted),
    }
    pair = Pair(wanted, slave) if slave in config.slaves_of(wanted) else None
    shown["again"] = last_choices(context, pair) if pair else {}
    shown["following"] = cascades.next_pair(context.store, pair) if pair else None
    return page(request, "initial_update.html", config=config, chosen=wanted, form=config.pages.form, **shown)


@router.get("/static/{name}")
def static(name: str) -> Response:
    """Style and script, for everybody who has logged in: also for the page that refuses."""
    if name not in STATIC:
        raise HTTPException(404)
    return FileResponse(HERE / "static" / name, media_type=STATIC[name])


def page(request: Request, template: str, status_code: int = 200, /, **values: Any) -> Response:
    """A page, with what each of them has: the person, their rights, and where everything is."""
    who = visitor(request)
    base = {"who": who, "root": request.scope.get("root_path", ""), "now": datetime.now(UTC), "refresh_s": 5.0}
    base |= {"deployment": "", "rights": frozenset(), "role": None, "reach": _reach(request)}
    base["here"] = request.url.path.rpartition("/")[2]
    if template != "error.html":
        context = airflow(request).context()
        role = entry.role(request)
        base |= {"role": role, "rights": role.rights if role else frozenset()}
        settings = context.config.pages
        base |= {"refresh_s": settings.refresh_s, "deployment": settings.title}
        base |= {"words": settings.words, "names": settings.names}
    base["token"] = entry.page_token(airflow(request).secret, who.user)
    return HTMLResponse(_TEMPLATES.get_template(template).render(**base | values), status_code)


def _tables(context: Context, source: str) -> dict[str, int | None]:
    """The tables that are filled, as far as they are known, with their rows at the last comparison."""
    settings, counts = context.config.source(source), watched_tables.row_counts(context.store, source)
    known = {TableName(*name) for name in settings.watched_tables} | watched_tables.known_tables(context.store, source)
    return {str(name): counts.get(str(name)) for name in sorted(known) if find_entry(settings.patterns, name)}


def _reach(request: Request) -> Reach:
    reach: Reach = request.app.state.reach
    return reach


def _by(view: View) -> dict[Sort, str]:
    """The query that sorts by each column; a second time, the other way round."""
    kept = {"q": view.text, "status": view.status}
    return {
        column: urlencode({**kept, "sort": column, **({"down": 1} if view.sort is column and not view.down else {})})
        for column in Sort
    }
