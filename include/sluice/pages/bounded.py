"""The part of the API server's work that is for the pages: so many requests at once, and more are refused at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from anyio.to_thread import current_default_thread_limiter
from fastapi import Request, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sluice.errors import TransientError

# The threads of the API server are for Airflow's own requests: ours may hold this part of them while the store is away.
_PART = 4
# All those together whom the pages refuse: they take no place of others.
_OF_STRANGERS = 1
# A reader who takes nothing of an answer for so long is gone.
STALLED_S = 30.0


class Bounded:
    """Lets so many requests work at once. All are of one event loop.

    A request has its place until all of its answer is sent: a file is made while somebody reads it.

    Args:
        refused: the answer to a request that gets no place.
        stalled_s: a reader who takes nothing for so long loses the place, and the rest of the answer.
    """

    def __init__(
        self, app: ASGIApp, refused: Callable[[Request, Exception], Response], stalled_s: float = STALLED_S
    ) -> None:
        self._app = app
        self._refused = refused
        self._stalled_s = stalled_s
        # Of people with a role here, and of others.
        self._at_work = {True: 0, False: 0}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_in_time(message: Message) -> None:
            await asyncio.wait_for(send(message), self._stalled_s)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_role = scope.get("state", {}).get("has_role", True)
        most = max(1, int(current_default_thread_limiter().total_tokens) // _PART) if has_role else _OF_STRANGERS
        if self._at_work[has_role] >= most:
            await self._refused(Request(scope), _busy(most))(scope, receive, send)
            return
        self._at_work[has_role] += 1
        try:
            await self._app(scope, receive, send_in_time)
        finally:
            self._at_work[has_role] -= 1


def _busy(most: int) -> TransientError:
    return TransientError(
        379,
        f"{most} requests are at work on the pages of Sluice, and no more may be",
        "nothing was done; load the page again in a few seconds. If this stays, the control store does not "
        "answer, or is slow: look at its database",
    )
