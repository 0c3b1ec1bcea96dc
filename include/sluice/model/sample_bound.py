"""The most rows that can differ in a table, as far as a sample of its keys tells, with a stated confidence.

Each key is drawn with the same chance, so the number of different rows in a sample is hypergeometric. The bound is that
of Clopper and Pearson (Biometrika 26, 1934), one-sided, for the binomial distribution: exact for a table without end,
and not too small for one of some rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, exp, expm1, floor, lgamma, log, log1p

# Below it the binomial bound is too low for some tables of few rows, of which nearly all differ.
LEAST_CONFIDENCE = 0.95
MOST_CONFIDENCE = 0.999999
CONFIDENCE = 0.99
# A share as people write it: 1/10000.
SHARE = r"^1/([2-9]|[1-9][0-9]{1,8})$"

_SMALL = 0.1
_TINY = 1e-300


@dataclass(frozen=True)
class SampleBound:
    """Fewer than this share of a table's rows differ, with this confidence.

    Attributes:
        below: the share; 1 if the sample says nothing.
    """

    confidence: float
    below: float

    @property
    def text(self) -> str:
        """As people read it."""
        sure = f"with {percentage(self.confidence)} confidence"
        if self.below >= 1:
            return f"{sure} nothing can be said"
        if self.below > _SMALL:
            return f"{sure} fewer than {ceil(1000 * self.below) / 10:g} % of the rows differ"
        return f"{sure} fewer than 1 row in {floor(1 / self.below):,} differs"


def sample_bound(drawn: int, different: int, confidence: float) -> SampleBound:
    """The bound by a sample of so many keys, of which so many differ."""
    return SampleBound(confidence, _upper(max(drawn, different), different, 1 - confidence))


def weakest(bounds: Iterable[SampleBound | None]) -> SampleBound | None:
    """The bound that holds for each table alone; None if there is none."""
    return max((bound for bound in bounds if bound), key=lambda bound: bound.below, default=None)


def statement(known: SampleBound | None, unknown: int) -> str:
    """The weakest bound of several tables as people read it, and how many sampled ones have no key, and so none."""
    parts = [known.text] if known else []
    if unknown:
        parts.append(f"of {unknown:,} {'table' if unknown == 1 else 'tables'} without a key nothing can be said")
    return "; ".join(parts)


def sample_size(below: float, confidence: float) -> int:
    """The keys to draw: if none of them differs, fewer than this share do."""
    count = ceil(log(1 - confidence) / log1p(-below))
    # A logarithm may be off by its last digit.
    return next(each for each in (count, count + 1, count + 2) if _upper(each, 0, 1 - confidence) <= below)


def share(text: str) -> float:
    """Read a share such as 1/10000. Raises ValueError."""
    if not re.fullmatch(SHARE, text):
        raise ValueError(f"{text} is not 1/N, with an N of 2 to 999999999")
    return 1 / int(text.removeprefix("1/"))


def confidence(text: str) -> float:
    """Read a confidence such as 0.99. Raises ValueError."""
    if not LEAST_CONFIDENCE <= float(text) <= MOST_CONFIDENCE:
        raise ValueError(f"{text} is not {LEAST_CONFIDENCE} to {MOST_CONFIDENCE}")
    return float(text)


def percentage(part: float) -> str:
    """A part of 1 as people read it."""
    return f"{round(100 * part, 7):g} %"


def _upper(drawn: int, different: int, risk: float) -> float:
    """The share of rows at which so few different ones would be drawn with this probability alone."""
    if different >= drawn:
        return 1.0
    if not different:
        return -expm1(log(risk) / drawn)
    low, high = different / drawn, 1.0
    while (middle := (low + high) / 2) not in (low, high):
        if _at_most(different, drawn, middle) > risk:
            low = middle
        else:
            high = middle
    return high


def _at_most(different: int, drawn: int, probability: float) -> float:
    """The probability that at most so many independent draws are different: an incomplete beta function.

    By its continued fraction (Abramowitz and Stegun, 26.5.8), as Lentz evaluates one. It converges soon, since the
    probability is beyond the mean.
    """
    a, b, x = drawn - different, different + 1, 1 - probability
    scale = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 10_000_000):
        for part in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _not_zero(1 + part * d)
            c = _not_zero(1 + part / c)
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return exp(scale) * fraction / a


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
