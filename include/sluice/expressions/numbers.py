"""Numbers as the database computes and prints them.

Source: PostgreSQL manual, "Numeric Types"; the scale of a quotient as its `numeric` chooses it (select_div_scale).
"""

from __future__ import annotations

import math
import re
import struct
from decimal import ROUND_HALF_UP, Context, Decimal

import pyarrow as pa

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,5})?")
_SPECIAL = {"nan": "NaN", "inf": "Infinity", "infinity": "Infinity"}
_MOST_BEFORE, _MOST_AFTER = 131_072, 16_383
# Wide enough for whatever a `numeric` holds, so that nothing is rounded but where it says so; and without traps,
# since NaN and infinity are values.
CONTEXT = Context(prec=2 * (_MOST_BEFORE + _MOST_AFTER), Emax=999_999, Emin=-999_999, traps=[])
_ZERO, _ONE = Decimal(0), Decimal(1)


class Failure(ValueError):
    """A failed evaluation; its text has no value of a row."""


def compare(left: float | Decimal, right: float | Decimal) -> int:
    """Below 0, 0, above 0, like `one - other`; NaN is equal to itself and larger than all else."""
    if left != left or right != right:
        return (left != left) - (right != right)
    return (left > right) - (left < right)


def integer(text: str) -> int:
    """Raises Failure if it is no whole number of 64 bits."""
    if not re.fullmatch(r"[+-]?\d+", text, re.ASCII):
        raise Failure("a text is no whole number")
    return whole(int(text) if len(text) < 100 else 1 << 64)


def whole(value: int, bits: int = 64) -> int:
    """The number itself. Raises Failure if it needs more bits."""
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise Failure(f"a whole number has more than {bits} bits")
    return value


def numeric(text: str) -> Decimal:
    """Raises Failure if it is no number."""
    return _plain(CONTEXT.create_decimal(_spell(text)))


def double(text: str) -> float:
    """Raises Failure if it is no number, or too large or too small for one."""
    return finite(float(_spell(text)), given=text)


def real(text: str) -> float:
    """Raises Failure if it is no number, or too large or too small for one of four bytes."""
    return finite(float(pa.scalar(_spell(text)).cast(pa.float32()).as_py()), given=text)


def _spell(text: str) -> str:
    if _NUMBER.fullmatch(text):
        return text
    sign, word = ("-", text[1:]) if text.startswith("-") else ("", text.removeprefix("+"))
    if word.lower() not in _SPECIAL or (sign and word.lower() == "nan"):
        raise Failure("a text is no number")
    return sign + _SPECIAL[word.lower()]


def finite(value: float, *, given: str = "") -> float:
    """The number itself. Raises Failure if digits made it infinite, or zero."""
    digits = re.search(r"[1-9]", re.split("[eE]", given)[0])
    if digits and not math.isnan(value) and (math.isinf(value) or value == 0):
        raise Failure("a number is too large or too small for its type")
    return value


def to_double(value: Decimal) -> float:
    """The nearest double. Raises Failure if there is none."""
    return float(value) if not value.is_finite() else finite(float(value), given=str(value))


def to_integer(value: Decimal | float) -> int:
    """Rounded: halves of decimals away from zero, of doubles to the even number. Raises Failure beyond 64 bits."""
    if not math.isfinite(value):
        raise Failure("what is no finite number cannot be a whole number")
    if isinstance(value, float):
        return whole(round(value))
    return whole(int(value.to_integral_value(ROUND_HALF_UP, CONTEXT)))


def _expect_fit(value: Decimal) -> Decimal:
    """The number itself. Raises Failure if a `numeric` cannot be as large."""
    if value.is_finite() and value.adjusted() >= _MOST_BEFORE:
        raise Failure("a number has too many digits")
    return value


def expect_digits(value: Decimal, most: int) -> Decimal:
    """The number itself. Raises Failure if it has more digits than that before the point, or after it."""
    if value.is_finite() and max(value.adjusted() + 1, _scale(value)) > most:
        raise Failure(f"a number in it has more than {most} digits before the point, or after it")
    return value


def _plain(value: Decimal) -> Decimal:
    """The same number without an exponent."""
    exponent = _expect_fit(value).as_tuple().exponent
    return value.quantize(_ONE, context=CONTEXT) if isinstance(exponent, int) and exponent > 0 else value


def _scale(value: Decimal) -> int:
    """Digits after the point."""
    exponent = value.as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def add(left: Decimal, right: Decimal) -> Decimal:
    return _expect_fit(CONTEXT.add(left, right))


def subtract(left: Decimal, right: Decimal) -> Decimal:
    return _expect_fit(CONTEXT.subtract(left, right))


def multiply(left: Decimal, right: Decimal) -> Decimal:
    return _expect_fit(CONTEXT.multiply(left, right))


def negate(value: Decimal) -> Decimal:
    return value if value.is_nan() else value.copy_negate()


def divide(dividend: Decimal, divisor: Decimal) -> Decimal:
    """The quotient with the digits that the database gives it. Raises Failure on a division by zero."""
    if dividend.is_nan() or divisor.is_nan():
        return Decimal("NaN")
    _expect_divisor(divisor)
    if not (dividend.is_finite() and divisor.is_finite()):
        return _ZERO if dividend.is_finite() else CONTEXT.divide(dividend, divisor)
    (weight, first), (other_weight, other_first) = _leading_digit(dividend), _leading_digit(divisor)
    scale = 16 - 4 * (weight - other_weight - (first <= other_first))
    scale = min(max(scale, _scale(dividend), _scale(divisor), 0), 1_000)
    # Of whole numbers, with as many digits as are asked for. Decimals divide large ones in time, unlike Python's own.
    quotient, rest = CONTEXT.divmod(CONTEXT.scaleb(dividend.copy_abs(), scale), divisor.copy_abs())
    if CONTEXT.multiply(rest, Decimal(2)) >= divisor.copy_abs():
        quotient = CONTEXT.add(quotient, _ONE)
    quotient = CONTEXT.scaleb(quotient, -scale)
    return _expect_fit(quotient if (dividend < 0) == (divisor < 0) else quotient.copy_negate())


def remainder(dividend: Decimal, divisor: Decimal) -> Decimal:
    """The remainder of a division, with the sign of `one`. Raises Failure on a division by zero."""
    if dividend.is_nan() or divisor.is_nan():
        return Decimal("NaN")
    _expect_divisor(divisor)
    return _expect_fit(CONTEXT.remainder(dividend, divisor))


def round_to(value: Decimal, digits: int = 0) -> Decimal:
    """Rounded, halves away from zero; digits below 0 are those before the point."""
    if not value.is_finite():
        return value
    if abs(digits) > 1_000:
        raise Failure("a number cannot be rounded to more than 1000 digits")
    rounded = value.quantize(CONTEXT.scaleb(Decimal(1), -digits), ROUND_HALF_UP, CONTEXT)
    return _plain(rounded)


def within(value: Decimal, size: int, scale: int) -> Decimal:
    """Rounded to so many digits behind the point. Raises Failure if it has more than `size` digits then."""
    if value.is_nan():
        return value
    rounded = round_to(value, scale)
    if not rounded.is_finite() or rounded.copy_abs() >= Decimal(10) ** (size - scale):
        raise Failure(f"a number has more than {size - scale} digits before the point")
    return rounded


def _leading_digit(value: Decimal) -> tuple[int, int]:
    """The place of the first digit other than 0 to the base of 10000, and that digit."""
    if not value:
        return 0, 0
    weight = value.adjusted() // 4
    return weight, int(CONTEXT.scaleb(value.copy_abs(), -4 * weight))


def _expect_divisor(divisor: Decimal | float) -> None:
    if divisor == 0:
        raise Failure("division by zero")


def whole_remainder(dividend: int, divisor: int) -> int:
    """The remainder of a division of integers, with the sign of `one`."""
    _expect_divisor(divisor)
    return int(math.copysign(1, dividend)) * (abs(dividend) % abs(divisor))


def add_doubles(left: float, right: float) -> float:
    return _in_range(left + right, left, right)


def subtract_doubles(left: float, right: float) -> float:
    return _in_range(left - right, left, right)


def multiply_doubles(left: float, right: float) -> float:
    value = _in_range(left * right, left, right)
    return _expect_nonzero(value, lost=left != 0 and right != 0)


def divide_doubles(dividend: float, divisor: float) -> float:
    if math.isnan(dividend) or math.isnan(divisor):
        return math.nan
    _expect_divisor(divisor)
    value = _in_range(dividend / divisor, dividend, divisor)
    return _expect_nonzero(value, lost=dividend != 0 and not math.isinf(divisor))


def round_double(value: float) -> float:
    return math.copysign(round(value), value) if math.isfinite(value) else value


def _in_range(value: float, *given: float) -> float:
    if math.isinf(value) and not any(map(math.isinf, given)):
        raise Failure("a number is too large for its type")
    return value


def _expect_nonzero(value: float, *, lost: bool) -> float:
    if value == 0 and lost:
        raise Failure("a number is too small for its type")
    return value


def print_numeric(value: Decimal) -> str:
    """Raises Failure if it has more digits after the point than a `numeric` keeps."""
    if not value.is_finite():
        return str(value)
    text = format(value if value else value.copy_abs(), "f")
    if len(text) > _MOST_AFTER and _scale(value) > _MOST_AFTER:
        raise Failure("a number has too many digits")
    return text


def print_double(value: float) -> str:
    return _shortest(value, repr(value), 15, "q", "d")


def print_real(value: float) -> str:
    return _shortest(value, pa.scalar(value, pa.float32()).cast(pa.string()).as_py(), 6, "i", "f")


def _shortest(value: float, digits: str, plain_below: int, as_bits: str, as_number: str) -> str:
    """The fewest digits that mean this number and no other, with an exponent where the database writes one."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if not value:
        return "-0" if math.copysign(1, value) < 0 else "0"
    shortest = Decimal(digits).normalize()
    # Digits in the middle between two numbers mean the even one, but the database does not rely on that.
    (bits,) = struct.unpack(as_bits, struct.pack(as_number, value))
    beside = [struct.unpack(as_number, struct.pack(as_bits, bits + step))[0] for step in (-1, 1)]
    middles = [CONTEXT.divide(CONTEXT.add(Decimal(value), Decimal(neighbour)), Decimal(2)) for neighbour in beside]
    length = len(shortest.as_tuple().digits)
    while shortest in middles:
        shortest = Decimal(f"{value:.{length}e}").normalize()
        length += 1
    exponent = shortest.adjusted()
    if -4 <= exponent < plain_below:
        return format(shortest, "f")
    sign, figures, _ = shortest.as_tuple()
    text = "".join(map(str, figures))
    return f"{'-' * sign}{text[0]}{'.' * (len(text) > 1)}{text[1:]}e{exponent:+03d}"
