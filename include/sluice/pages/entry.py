"""The entry of the pages: who may come in, what they may do, and what may be asked of a browser.

Everybody but those who have logged in to Airflow is turned away before any route is looked for. Each route names the
right that it needs. A request that changes something has to come from a page of ours, or bring a token by itself.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from fastapi import Depends, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse

from sluice import shell
from sluice.context import Context
from sluice.errors import ConfigError, Refused, SluiceError
from sluice.model.access import Right, Role, role_of
from sluice.pages.airflow import Airflow, Visitor
from sluice.pages.asked_roles import AskedRoles
from sluice.pages.scraper import SCRAPER, asks_for_metrics, scraper
from sluice.store import audit_trail

TOKEN_HEADER = "X-Sluice-Token"
# A page that is open has a new one every few seconds; a form, and a page in the background, have not.
TOKEN_S = 3_600
# Of the seconds of the epoch, for some centuries.
_DIGITS = 11
_READING = ("GET", "HEAD")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_log = logging.getLogger(__name__)
_UNUSABLE = "the configuration of Sluice cannot be used, as the log of the API server says"
_ANONYMOUS = "<!doctype html><title>Log in</title><p>Log in to Airflow first, then open this page again."


async def admit(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    """Let those in who have logged in, and tell browsers what a page of ours may do."""
    response: Response
    machine = await _roles(request).read(partial(scraper, request)) if asks_for_metrics(request) else None
    try:
        request.state.visitor = machine or await airflow(request).visitor(request)
    except SluiceError as error:
        response = _tell(request, error)
        response.headers.update(HEADERS)
        return response
    if request.state.visitor:
        try:
            request.state.has_role = await _has_role(request)
        except ConfigError as error:
            # It quotes lines of the configuration, and who may read these is not known without it.
            _log.error("the pages have no configuration: %s", error)
            response = _tell(request, ConfigError(error.code, _UNUSABLE, f"type: {shell.check()}"), 500)
        else:
            response = await call_next(request)
    elif asks_for_metrics(request):
        response = PlainTextResponse("not logged in\n", 401, {"WWW-Authenticate": "Bearer"})
    elif "/api/" in request.url.path:
        response = JSONResponse({"code": 401, "fact": "not logged in", "hint": "log in to Airflow"}, 401)
    else:
        response = HTMLResponse(_ANONYMOUS, 401)
    response.headers.update(HEADERS)
    return response


def _tell(request: Request, error: SluiceError, status: int = 503) -> Response:
    if "/api/" in request.url.path:
        return JSONResponse({"code": error.code, "fact": error.fact, "hint": error.hint}, status)
    return PlainTextResponse(f"{error}\n", status)


def airflow(request: Request) -> Airflow:
    """The Airflow that the pages are a part of."""
    ours: Airflow = request.app.state.airflow
    return ours


def _roles(request: Request) -> AskedRoles:
    ours: AskedRoles = request.app.state.roles
    return ours


def visitor(request: Request) -> Visitor:
    """The person who asks."""
    who: Visitor = request.state.visitor
    return who


def role(request: Request) -> Role | None:
    """The role of the person who asks; None if they have none.

    Raises:
        TransientError: SLC-932, Airflow does not say so.
    """
    known: Role | SluiceError | None = request.state.role
    if isinstance(known, SluiceError):
        raise known
    return known


async def _has_role(request: Request) -> bool:
    """Learn the role of the visitor, before a place is taken; if Airflow cannot tell, a route says why.

    Raises:
        ConfigError: the configuration cannot be read.
    """
    roles, who = _roles(request), visitor(request)
    config = (await roles.read(airflow(request).context)).config
    if who is SCRAPER:
        request.state.role = Role.USER
    elif who.roles is None and config.airflow_decides and who.user not in config.pages.users:
        try:
            request.state.role = await roles.role(config, who)
        except SluiceError as error:
            request.state.role = error
            return roles.had_role(who)
    else:
        request.state.role = role_of(who.user, who.roles or (), config.pages.roles, config.pages.users)
    return request.state.role is not None


def sees_values(request: Request) -> bool:
    """Whether the visitor may see keys and values of rows."""
    theirs = role(request)
    return theirs is not None and Right.ADMINISTER in theirs.rights


def needs(right: Right) -> Any:
    """The right that a route needs, as one of its dependencies.

    Raises (when a request comes):
        Refused: SLC-300, the person does not have it; SLC-393, another site may have asked.
    """

    def allow(request: Request) -> None:
        who, theirs = visitor(request), role(request)
        if theirs is None or right not in theirs.rights:
            context = airflow(request).context()
            asked = request.path_params
            what = f"{request.method} {request.url.path}"
            fact = f"{who.user} {f'is {theirs}' if theirs else 'has no role'} here, and may not {right}"
            # A page that is open asks every few seconds, and would hide what happened.
            if request.method not in _READING:
                audit_trail.refuse(
                    context.store, asked.get("source", ""), asked.get("slave"), who.user, f"{what}: {fact}"
                )
            raise Refused(
                300,
                fact,
                "nothing was changed; ask somebody who may, or change `pages` in the configuration"
                f"{_else(context, who)}",
            )
        if request.method not in _READING and who.by_cookie:
            _expect_own_page(request, who)

    allow.right = right  # type: ignore[attr-defined]
    return Depends(allow)


def _else(context: Context, who: Visitor) -> str:
    if who.roles is not None:
        return ""
    if context.config.airflow_decides:
        return ", or this person's rights on Sluice's DAGs in Airflow"
    return ". Airflow's auth manager gives its users no roles: that takes `command_roles: airflow`, or `pages.users`"


def page_token(secret: bytes, user: str, made: int | None = None) -> str:
    """The token of a page of ours, which it sends with each command: another site cannot read it.

    Args:
        made: when, in seconds of the epoch; now, if nothing is said. It holds for an hour.
    """
    moment = int(time.time()) if made is None else made
    said = f"sluice pages\n{moment}\n{user}".encode()
    return f"{moment}_{hmac.new(secret, said, hashlib.sha256).hexdigest()}"


def _expect_own_page(request: Request, who: Visitor) -> None:
    came_from = urlsplit(request.headers.get("origin", "")).netloc
    brought = request.headers.get(TOKEN_HEADER, "")
    moment = _moment(brought)
    expected = page_token(airflow(request).secret, who.user, moment)
    fault = "the page that asked for this is more than an hour old" if time.time() - moment > TOKEN_S else ""
    if came_from != request.headers.get("host") or not hmac.compare_digest(brought.encode(), expected.encode()):
        fault = "no page of Sluice asked for this"
    if fault:
        raise Refused(393, fault, "nothing was changed; reload the page, and try again")


def _moment(token: str) -> int:
    """When a token was made, by its own words; zero if it has none."""
    moment = token.partition("_")[0]
    return int(moment) if moment.isascii() and moment.isdigit() and len(moment) <= _DIGITS else 0
