"""Numbers as they are typed: what argparse takes, and refuses with its reason."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


# A year; what is waited for longer is not waited for.
_LONGEST_S = 366 * 86_400.0


def number(text: str) -> int:
    value = int(text)
    if not 0 <= value < 1 << 63:
        raise argparse.ArgumentTypeError("a number from 0, of at most 63 bits")
    return value


def seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= _LONGEST_S:
        raise argparse.ArgumentTypeError(f"seconds from 0 to {_LONGEST_S:g}")
    return value


def ordinal(text: str) -> int:
    value = number(text)
    if value < 1:
        raise argparse.ArgumentTypeError("transactions are counted from 1")
    return value


def positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError("a number above 0")
    return value
