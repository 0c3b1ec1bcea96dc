"""The figures by HTTP: one answer of JSON for a request that brings the admin secret as the password of HTTP Basic."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
from collections.abc import Awaitable, Callable
from typing import Any

from sluice.errors import SluiceError

_MOST_HEAD = 8_192
_PATIENCE_S = 10.0
_MOST_AT_ONCE = 8

Figures = Callable[[], Awaitable[dict[str, Any]]]


class AdminPage:
    """Answers connections; each asks once."""

    def __init__(self, secret: str, figures: Figures) -> None:
        self._secret = secret.encode()
        self._figures = figures
        # Connections that have not shown the secret, the oldest first.
        self._strangers: dict[asyncio.StreamWriter, None] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection, in a bounded time."""
        self._strangers[writer] = None
        if len(self._strangers) > _MOST_AT_ONCE:
            # A peer that only connects keeps no other client away.
            self._leave(next(iter(self._strangers)))
        try:
            async with asyncio.timeout(_PATIENCE_S):
                writer.write(await self._answer(await reader.readuntil(b"\r\n\r\n"), writer))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self._leave(writer)

    def _leave(self, writer: asyncio.StreamWriter) -> None:
        self._strangers.pop(writer, None)
        writer.close()

    async def _answer(self, head: bytes, writer: asyncio.StreamWriter) -> bytes:
        lines = head.decode("latin-1").split("\r\n")
        if not lines[0].startswith("GET / "):
            return _response("404 Not Found", {"error": "only / is here"})
        if not self._is_allowed(lines[1:]):
            return _response("401 Unauthorized", {"error": "the admin secret is needed"})
        self._strangers.pop(writer, None)
        try:
            return _response("200 OK", await self._figures())
        except SluiceError as error:
            return _response("503 Service Unavailable", {"error": error.message})

    def _is_allowed(self, headers: list[str]) -> bool:
        for header in headers:
            name, _, value = header.partition(":")
            scheme, _, given = value.strip().partition(" ")
            if name.lower() == "authorization" and scheme.lower() == "basic":
                try:
                    _, _, password = base64.b64decode(given, validate=True).partition(b":")
                except ValueError:
                    return False
                return hmac.compare_digest(password, self._secret)
        return False


def _response(status: str, content: dict[str, Any]) -> bytes:
    body = json.dumps(content, indent=2).encode()
    challenge = 'WWW-Authenticate: Basic realm="relay"\r\n' if status.startswith("401") else ""
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        f"{challenge}Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


LIMIT = _MOST_HEAD
