"""Numbers of rows in a report, as people write them: ``3, 5, 10-20``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

# As large as the store has them.
_MOST = 2**31 - 1
_SPAN = re.compile(r"\s*([0-9]{1,10})\s*(?:-\s*([0-9]{1,10})\s*)?")


@dataclass(frozen=True)
class RowNumbers:
    """Rows of one table of a report.

    Attributes:
        spans: first and last numbers, in order; none touches another.
    """

    spans: tuple[tuple[int, int], ...]

    @classmethod
    def parse(cls, text: str) -> RowNumbers:
        """Parse numbers, and first and last ones with a dash between them, separated by commas.

        Raises:
            ValueError: the text has another form, or names nothing.
        """
        spans = []
        for part in text.split(","):
            match = _SPAN.fullmatch(part)
            if match is None:
                raise ValueError("it is no list of numbers with commas between them, such as 3, 5, 10-20")
            first, last = int(match[1]), int(match[2] or match[1])
            if not first <= last <= _MOST:
                raise ValueError(f"{part.strip()} is no row number, or its last one is before its first")
            spans.append((first, last))
        return cls(_merge(spans))

    @classmethod
    def from_numbers(cls, numbers: Iterable[int]) -> RowNumbers:
        """These numbers."""
        return cls(_merge((number, number) for number in numbers))

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.spans)

    def __str__(self) -> str:
        """As people write it."""
        return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in self.spans)

    def without(self, others: RowNumbers) -> RowNumbers:
        """The numbers that are not among `others`."""
        left = []
        for first, last in self.spans:
            for low, high in others.spans:
                if high >= first and low <= last:
                    if low > first:
                        left.append((first, low - 1))
                    first = high + 1
            if first <= last:
                left.append((first, last))
        return RowNumbers(tuple(left))


def _merge(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)
