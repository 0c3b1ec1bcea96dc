"""A request keeps its place until its answer is read: files of rows are made while they are sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from fastapi import Request, Response
from fastapi.responses import PlainTextResponse, StreamingResponse

from sluice.pages.bounded import Bounded

# A quarter of the threads that anyio has by default.
MOST = 10
SCOPE = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""}


def parts() -> Iterator[bytes]:
    yield from (b"some", b"rows")


async def file(scope, receive, send) -> None:
    await StreamingResponse(parts())(scope, receive, send)


def refused(request: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error).partition(":")[0], 503)


class Reader:
    """Takes the beginning of an answer, and the rest when it reads on."""

    def __init__(self) -> None:
        self.goes_on = asyncio.Event()
        self.took: list[bytes] = []

    async def receive(self):
        await asyncio.Event().wait()

    async def send(self, message) -> None:
        if body := message.get("body"):
            self.took.append(body)
            await self.goes_on.wait()

    def ask(self, app: Bounded, *, has_role: bool = True) -> asyncio.Task[None]:
        return asyncio.create_task(app({**SCOPE, "state": {"has_role": has_role}}, self.receive, self.send))


async def answered(app: Bounded, *, has_role: bool = True) -> list[bytes]:
    """What a reader takes who is not slow."""
    reader = Reader()
    reader.goes_on.set()
    await reader.ask(app, has_role=has_role)
    return reader.took


async def holding(app: Bounded, most: int = MOST, *, has_role: bool = True) -> list[tuple[Reader, asyncio.Task[None]]]:
    """So many readers as may be, in the middle of a file."""
    readers = [Reader() for _ in range(most)]
    asked = [(one, one.ask(app, has_role=has_role)) for one in readers]
    async with asyncio.timeout(60):
        while not all(one.took for one in readers):
            await asyncio.sleep(0)
    return asked


def test_a_file_that_is_being_read_holds_its_place_to_its_end():
    async def story() -> None:
        app = Bounded(file, refused)
        asked = await holding(app)
        assert await answered(app) == [b"SLC-379"]
        for reader, task in asked:
            reader.goes_on.set()
            await task
        assert await answered(app) == [b"some", b"rows"]

    asyncio.run(story())


def test_a_reader_who_takes_nothing_loses_the_place_and_the_rest():
    async def story() -> None:
        app = Bounded(file, refused, stalled_s=0.01)
        for reader, task in await holding(app):
            with pytest.raises(TimeoutError):
                await task
            assert reader.took == [b"some"]
        assert await answered(app) == [b"some", b"rows"]

    asyncio.run(story())


def test_people_without_a_role_take_no_place_of_those_with_one():
    async def story() -> None:
        app = Bounded(file, refused)
        asked = await holding(app, 1, has_role=False)
        assert await answered(app, has_role=False) == [b"SLC-379"]
        asked += await holding(app)
        for reader, task in asked:
            reader.goes_on.set()
            await task
        assert await answered(app, has_role=False) == [b"some", b"rows"]

    asyncio.run(story())
