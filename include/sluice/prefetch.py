"""Makes the next item while the item before is used."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")


def fetch_ahead(items: Iterator[_T]) -> Generator[_T]:
    """The items, each made by a thread while its predecessor is used; so two of them are held. To be closed."""
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as thread:
        coming = thread.submit(_some, items)
        while fetched := coming.result():
            coming = thread.submit(_some, items)
            yield fetched.pop()


def _some(items: Iterator[_T]) -> list[_T]:
    """The next one, if there is one."""
    for item in items:
        return [item]
    return []
