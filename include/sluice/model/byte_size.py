"""Numbers of bytes as people read them."""

from __future__ import annotations


def size(number: float) -> str:
    """A number of bytes, in the unit that suits it."""
    for unit, of in (("GB", 1e9), ("MB", 1e6)):
        if number >= of:
            return f"{number / of:,.1f} {unit}"
    return f"{number / 1e3:,.0f} kB"
