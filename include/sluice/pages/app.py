"""The application: its entry, its routes, and what is said of an error."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException

from sluice.bounded_calls import BoundedCalls
from sluice.errors import ConfigError, Refused, SluiceError, TransientError, UnknownName
from sluice.monitor.health import Health
from sluice.monitor.reach import Reach
from sluice.pages import (
    audit,
    comparison_rest,
    comparisons,
    entry,
    health,
    html,
    metrics,
    preview,
    rejected,
    rest,
    statements,
    tables,
    waiting_changes,
)
from sluice.pages.airflow import Airflow
from sluice.pages.asked_roles import AskedRoles
from sluice.pages.bounded import Bounded
from sluice.pages.overview import LastHour
from sluice.pages.scraper import asks_for_metrics

# What a command may bring, and how long its sender may take for it.
_MOST_BYTES = 64 * 1024
_SENDING_S = 5.0
_NOTHING = "nothing was changed; see openapi.json"


async def _receive(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    """Read a whole request before it takes a place: a slow sender keeps no other request out."""
    length = request.headers.get("content-length", "0")
    if "transfer-encoding" in request.headers or not length.isdigit() or int(length) > _MOST_BYTES:
        return _answer(request, 413, 413, f"a request has {_MOST_BYTES:,} bytes at most, and says how many", _NOTHING)
    try:
        await asyncio.wait_for(request.body(), _SENDING_S)
    except TimeoutError:
        return _answer(request, 408, 408, f"the request did not come within {_SENDING_S:g} seconds", _NOTHING)
    return await call_next(request)


def application(airflow: Airflow) -> FastAPI:
    """The pages and the REST API of one Airflow."""
    app = FastAPI(title="Sluice", version="1", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.airflow = airflow
    app.state.roles = AskedRoles()
    app.state.reach = Reach()
    app.state.health = Health()
    app.state.hour = LastHour()
    app.state.previews = BoundedCalls()
    app.include_router(html.router)
    app.include_router(rest.router)
    app.include_router(metrics.router)
    app.include_router(tables.router)
    app.include_router(audit.router)
    app.include_router(health.router)
    app.include_router(preview.router)
    app.include_router(statements.router)
    app.include_router(comparisons.router)
    app.include_router(comparison_rest.router)
    app.include_router(rejected.router)
    app.include_router(waiting_changes.router)
    app.add_middleware(Bounded, refused=_explain)
    app.middleware("http")(_receive)
    # Who has not logged in takes no place of those who have.
    app.middleware("http")(entry.admit)
    app.add_exception_handler(SluiceError, _explain)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _unknown)
    return app


def _explain(request: Request, error: Exception) -> Response:
    assert isinstance(error, SluiceError)
    return _answer(request, _status(error), error.code, error.fact, error.hint)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
    return _answer(request, 422, 422, f"the request is not valid: {faults}", "nothing was changed; see openapi.json")


def _unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _answer(request, error.status_code, error.status_code, str(error.detail), "see openapi.json")


def _status(error: SluiceError) -> int:
    if isinstance(error, Refused):
        return 403
    if isinstance(error, TransientError):
        return 503
    if isinstance(error, UnknownName):
        return 404
    return 500 if isinstance(error, ConfigError) else 409


def _answer(request: Request, status: int, code: int, fact: str, hint: str) -> Response:
    if "/api/" in request.url.path:
        return JSONResponse({"code": code, "fact": fact, "hint": hint}, status)
    if asks_for_metrics(request):
        return PlainTextResponse(f"SLC-{code:03}: {fact}\nHINT: {hint}\n", status)
    return html.page(request, "error.html", status, code=code, fact=fact, hint=hint)
