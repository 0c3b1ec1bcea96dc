"""Conditions for ranges of keys of several columns, for servers whose indexes know no comparison of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sluice.vendors.protocol.read import Key, KeyRange


def between(names: Sequence[str], within: KeyRange, last: Key | None, written: Callable[[int, str], str]) -> list[str]:
    """The conditions for the rest of a range, or for its next rows up to a last key; none for all rows.

    Args:
        names: the columns of the key, in its order, as SQL.
        written: a value of one of them, by its place, as SQL.
    """
    return [
        _beside(names, [written(place, text) for place, text in enumerate(bound)], sign, equal=equal)
        for sign, equal, bound in (
            (">", True, within.first),
            (">", False, within.reached),
            ("<", True, last or within.until),
        )
        if bound is not None
    ]


def _beside(names: Sequence[str], bound: Sequence[str], sign: str, *, equal: bool) -> str:
    name, value = names[0], bound[0]
    if len(bound) == 1:
        return f"{name} {sign}{'=' * equal} {value}"
    rest = _beside(names[1:], bound[1:], sign, equal=equal)
    return f"({name} {sign} {value} OR ({name} = {value} AND {rest}))"
