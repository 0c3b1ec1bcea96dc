"""The operators and functions of expressions, with the kinds of their arguments."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sluice.expressions import numbers
from sluice.expressions.numbers import Failure, compare
from sluice.expressions.value_types import TypeFamily, Values, each

_INT, _NUM, _DBL, _TEXT = TypeFamily.INTEGER, TypeFamily.NUMERIC, TypeFamily.DOUBLE, TypeFamily.TEXT
_BOOL = TypeFamily.BOOLEAN


@dataclass(frozen=True)
class Operation:
    """One way in which an operator or a function can be called.

    Attributes:
        takes: kinds of its arguments.
        gives: the kind of its value.
        row: what it makes of the arguments of one row, of which none is NULL.
        column: the same for all rows at once, where that is exact.
        risky: there are values with which it fails.
    """

    takes: tuple[TypeFamily, ...]
    gives: TypeFamily
    row: Callable[..., Any] | None = None
    column: Callable[..., Values] | None = None
    risky: bool = False

    def run(self, *columns: Values) -> Values:
        """Raises Failure, or an ArrowInvalid, if it fails for one of the rows."""
        if self.column:
            return self.column(*columns)
        assert self.row
        return each(self.gives, self.row, *columns)


COMPARISONS: dict[str, tuple[Callable[..., Any], Callable[[Any, Any], bool]]] = {
    "=": (pc.equal, operator.eq),
    "<>": (pc.not_equal, operator.ne),
    "<": (pc.less, operator.lt),
    "<=": (pc.less_equal, operator.le),
    ">": (pc.greater, operator.gt),
    ">=": (pc.greater_equal, operator.ge),
}


def comparison(name: str, kind: TypeFamily) -> Operation:
    """A comparison of two values of a kind: texts by code points, NaN as the largest number."""
    column, sign = COMPARISONS[name]
    if kind not in (_NUM, _DBL):
        return Operation((kind, kind), TypeFamily.BOOLEAN, column=column)

    def numbers_(values: Values, others: Values) -> Values:
        if _has_nan(values) or _has_nan(others):
            return each(TypeFamily.BOOLEAN, lambda left, right: sign(compare(left, right), 0), values, others)
        return each(TypeFamily.BOOLEAN, sign, values, others) if isinstance(values, list) else column(values, others)

    return Operation((kind, kind), TypeFamily.BOOLEAN, column=numbers_)


def _has_nan(values: Values) -> bool:
    if isinstance(values, list):
        return any(value != value for value in values)
    return bool(pc.any(pc.is_nan(values)).as_py())


def _substr(text: str, start: int, length: int | None = None) -> str:
    if length is None:
        return text[max(start - 1, 0) :]
    if length < 0:
        raise Failure("a part of a text has a negative length")
    return text[max(start - 1, 0) : max(start - 1 + length, 0)]


def lower(texts: Values) -> Values:
    """Letter by letter, where one letter becomes one, as the collation pg_c_utf8 does."""
    return pc.utf8_lower(texts)


def upper(texts: Values) -> Values:
    """Letter by letter as in `lower`; a sharp s remains small. NUL, which no database has, stands for it meanwhile."""
    raised = pc.utf8_upper(pc.replace_substring(texts, "ß", "\0"))
    return pc.replace_substring(raised, "\0", "ß")


def _trims(strip: Callable[..., str]) -> tuple[Operation, ...]:
    return (
        Operation((_TEXT,), _TEXT, lambda text: strip(text, " ")),
        Operation((_TEXT, _TEXT), _TEXT, lambda text, signs: strip(text, signs) if signs else text),
    )


def _arithmetic(
    whole: Callable[..., Values],
    of_decimals: Callable[[Decimal, Decimal], Decimal],
    of_doubles: Callable[[float, float], float],
) -> tuple[Operation, ...]:
    return (
        Operation((_INT, _INT), _INT, column=whole, risky=True),
        Operation((_NUM, _NUM), _NUM, of_decimals, risky=True),
        Operation((_DBL, _DBL), _DBL, of_doubles, risky=True),
    )


# In this order the first is taken that the arguments fit, without a loss.
OPERATIONS: dict[str, tuple[Operation, ...]] = {
    "not": (Operation((_BOOL,), _BOOL, column=pc.invert),),
    "is true": (
        Operation((TypeFamily.BOOLEAN,), TypeFamily.BOOLEAN, column=lambda values: pc.fill_null(values, False)),
    ),
    "is false": (
        Operation(
            (TypeFamily.BOOLEAN,), TypeFamily.BOOLEAN, column=lambda values: pc.fill_null(pc.invert(values), False)
        ),
    ),
    "+": _arithmetic(pc.add_checked, numbers.add, numbers.add_doubles),
    "-": _arithmetic(pc.subtract_checked, numbers.subtract, numbers.subtract_doubles),
    "*": _arithmetic(pc.multiply_checked, numbers.multiply, numbers.multiply_doubles),
    "/": _arithmetic(pc.divide_checked, numbers.divide, numbers.divide_doubles),
    "%": (
        Operation((_INT, _INT), _INT, numbers.whole_remainder, risky=True),
        Operation((_NUM, _NUM), _NUM, numbers.remainder, risky=True),
    ),
    "negative": (
        Operation((_INT,), _INT, column=pc.negate_checked, risky=True),
        Operation((_NUM,), _NUM, numbers.negate),
        Operation((_DBL,), _DBL, operator.neg),
    ),
    "abs": (
        Operation((_INT,), _INT, column=pc.abs_checked, risky=True),
        Operation((_NUM,), _NUM, Decimal.copy_abs),
        Operation((_DBL,), _DBL, abs),
    ),
    "round": (
        Operation((_NUM,), _NUM, numbers.round_to, risky=True),
        Operation((_NUM, _INT), _NUM, numbers.round_to, risky=True),
        Operation((_DBL,), _DBL, numbers.round_double),
    ),
    "||": (
        Operation((_TEXT, _TEXT), _TEXT, column=lambda texts, others: pc.binary_join_element_wise(texts, others, "")),
    ),
    "length": (Operation((_TEXT,), _INT, column=lambda texts: pc.cast(pc.utf8_length(texts), pa.int64())),),
    "lower": (Operation((_TEXT,), _TEXT, column=lower),),
    "upper": (Operation((_TEXT,), _TEXT, column=upper),),
    "substr": (
        Operation((_TEXT, _INT), _TEXT, _substr),
        Operation((_TEXT, _INT, _INT), _TEXT, _substr, risky=True),
    ),
    "trim": _trims(str.strip),
    "ltrim": _trims(str.lstrip),
    "rtrim": _trims(str.rstrip),
}
