"""The rows that a comparison was of, in words."""

from __future__ import annotations

WHOLE = "all rows"


def scope(ranges: int, percent: float, since: str) -> str:
    """The scope of a comparison.

    Args:
        ranges: of keys that alone were compared; 0 if all were.
        percent: the share of the keys that was compared.
        since: the position since which rows had to be changed; empty if all were compared.
    """
    if since:
        return f"rows changed since {since}"
    if ranges:
        return f"{ranges:,} {'range' if ranges == 1 else 'ranges'} of keys"
    return WHOLE if percent >= 100 else f"a sample of {percent:.3g} % of the keys"
