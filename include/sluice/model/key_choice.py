"""Keys that are in some ranges, told by their canonical texts: of whole numbers and days, whichever database has them.

Databases of different kinds sort texts otherwise, but numbers and days have one order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property

from sluice.model.key_range import Bound, KeyInterval
from sluice.model.logical_type import Kind, logical_type

NUMBER, DAY = "number", "day"
_NUMBER = re.compile(r"[+-]?[0-9]+")
_DAY = re.compile(r"([0-9]{4,7})-([0-9]{2})-([0-9]{2})( BC)?")
_ENDS = {"-infinity": float("-inf"), "infinity": float("inf")}

_Value = tuple[float | int, ...]


def _number(text: str) -> _Value:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is no whole number")
    return (int(text),)


def _day(text: str) -> _Value:
    if text in _ENDS:
        return (_ENDS[text],)
    match = _DAY.fullmatch(text)
    if not match:
        raise ValueError(f"{text[:40]!r} is no day, such as 2013-12-31")
    year = -int(match[1]) if match[4] else int(match[1])
    return year, int(match[2]), int(match[3])


def _kind_of(type_: str) -> str | None:
    """NUMBER or DAY; None for types that databases may sort otherwise."""
    known = logical_type(type_)
    if known.kind is Kind.INTEGER or (known.kind is Kind.DECIMAL and known.scale == 0 and known.size):
        return NUMBER
    return DAY if known.kind is Kind.DATE else None


_READ = {NUMBER: _number, DAY: _day}


@dataclass(frozen=True)
class KeyChoice:
    """Ranges of keys.

    Attributes:
        kinds: NUMBER or DAY, of each column that a bound has a value of.
    """

    kinds: tuple[str, ...]
    ranges: tuple[KeyInterval, ...]

    @classmethod
    def from_ranges(cls, names: Sequence[str], types: Sequence[str], ranges: Sequence[KeyInterval]) -> KeyChoice:
        """The ranges, with numbers as databases write them.

        Args:
            names: of the key's columns.
            types: theirs, as the log calls them.

        Raises:
            TypeError: a column has a type whose order is not known.
            ValueError: a bound is none of its columns', or the last one is before the first.
        """
        used = max(
            (len(bound) for interval in ranges for bound in (interval.first, interval.until) if bound), default=0
        )
        if used > len(names):
            raise ValueError(f"the key has fewer values than {used}")
        kinds = tuple(map(_kind_of, types[:used]))
        if None in kinds:
            place = kinds.index(None)
            raise TypeError(
                f"its key {names[place]} is a {types[place]}, and only whole numbers and days are sorted alike there"
            )
        choice = cls(tuple(kind for kind in kinds if kind), ())
        for interval in ranges:
            first, until = (bound and choice._read(bound) for bound in (interval.first, interval.until))
            for bound in (interval.first, interval.until):
                choice._expect_days(bound or ())
            if first and until and first[: len(until)] > until[: len(first)]:
                raise ValueError(f"{', '.join(interval.until or ())} is before {', '.join(interval.first or ())}")
        return replace(choice, ranges=tuple(ranges))

    def takes(self, key: Sequence[str | None]) -> bool:
        """Whether a row belongs to a range, by the texts of its key. One that has no such key is in each: it is to be
        seen, since the other side cannot have it.
        """
        try:
            values = self._read([str(text) for text in key[: len(self.kinds)]])
        except ValueError:
            return True
        return any(
            not (first and values[: len(first)] < first) and not (until and values[: len(until)] > until)
            for first, until in self._bounds
        )

    @cached_property
    def _bounds(self) -> list[tuple[tuple[_Value, ...] | None, ...]]:
        return [
            tuple(self._read(bound) if bound else None for bound in (interval.first, interval.until))
            for interval in self.ranges
        ]

    def _expect_days(self, bound: Bound) -> None:
        """See that its days are some that there are, of the years that all databases have."""
        for kind, text in zip(self.kinds, bound, strict=False):
            if kind == DAY:
                date.fromisoformat(text)

    def _read(self, texts: Bound | Sequence[str]) -> tuple[_Value, ...]:
        return tuple(_READ[kind](text) for kind, text in zip(self.kinds, texts, strict=False))
