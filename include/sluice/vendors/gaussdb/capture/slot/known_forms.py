"""Forms that were seen lately, by where a statement begins. What is kept is bounded, whatever the stream has."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Reader = TypeVar("Reader")

_MOST_PLACES = 2_000
# An update of one table has a form for each choice of values out of line that did not change.
_MOST_READERS = 8


class KnownForms(Generic[Reader]):
    """Readers of single forms. To make one pays from the second statement of a form on."""

    def __init__(self) -> None:
        self._readers: dict[Hashable, list[Reader]] = {}
        self._seen: set[Hashable] = set()

    def at(self, beginning: Hashable) -> list[Reader]:
        """Readers that may take a statement which begins like that; the one that did so last comes first."""
        return self._readers.get(beginning) or []

    def is_second(self, form: Hashable) -> bool:
        """Whether such a form was seen before."""
        if form in self._seen:
            return True
        if len(self._seen) >= _MOST_PLACES:
            self._seen.clear()
        self._seen.add(form)
        return False

    def learn(self, beginning: Hashable, reader: Reader) -> None:
        """Have a reader for statements that begin like that."""
        if len(self._readers) >= _MOST_PLACES:
            self._readers.clear()
        known = self._readers.setdefault(beginning, [])
        known.insert(0, reader)
        del known[_MOST_READERS:]
