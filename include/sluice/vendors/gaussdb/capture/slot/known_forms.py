"""Forms that come often, by where a statement begins. What is kept is bounded, whatever the stream has."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Reader = TypeVar("Reader")

# To make a reader costs as much as tens of statements that are read without one.
_OFTEN = 8
# A reader has about a kilobyte for each column.
_MOST_COLUMNS = 50_000
# An update of one table has a form for each choice of values out of line that did not change.
_MOST_READERS = 8


class KnownForms(Generic[Reader]):
    """Readers of single forms."""

    def __init__(self) -> None:
        self._readers: dict[Hashable, list[Reader]] = {}
        self._learned = 0
        self._seen: dict[Hashable, int] = {}
        self._width = 0

    def at(self, beginning: Hashable) -> list[Reader]:
        """Readers that may take a statement which begins like that; the one that was made last comes first."""
        return self._readers.get(beginning) or []

    def comes_often(self, form: Hashable, columns: int) -> bool:
        """Count a statement of a form with so many columns; whether it is time to make a reader."""
        if form not in self._seen:
            self._width += columns + 1
            if self._width > _MOST_COLUMNS:
                self._seen.clear()
                self._width = columns + 1
        count = self._seen[form] = self._seen.get(form, 0) + 1
        return count >= _OFTEN

    def learn(self, beginning: Hashable, reader: Reader, columns: int) -> None:
        """Have a reader for statements that begin like that."""
        self._learned += columns
        if self._learned > _MOST_COLUMNS:
            self._readers.clear()
            self._learned = columns
        known = self._readers.setdefault(beginning, [])
        known.insert(0, reader)
        del known[_MOST_READERS:]
