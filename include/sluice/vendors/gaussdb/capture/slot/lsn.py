"""Places in the log as texts: two hexadecimal halves of a number."""

from __future__ import annotations


def number(text: str) -> int:
    """The number of a place that the server wrote."""
    high, low = text.split("/")
    return int(high, 16) << 32 | int(low, 16)


def written(lsn: int) -> str:
    """A place as the server writes it."""
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"
