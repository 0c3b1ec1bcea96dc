"""Values of one kind as those of another: what happens by itself, and what a cast does."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

from sluice.expressions import datetimes, numbers
from sluice.expressions.tree import Fault
from sluice.expressions.value_types import TypeFamily, Values, as_text, each, parse_value

# What happens by itself, because nothing is lost or because SQL does it: kind -> kinds.
WIDER: dict[TypeFamily, tuple[TypeFamily, ...]] = {
    TypeFamily.INTEGER: (TypeFamily.NUMERIC, TypeFamily.DOUBLE),
    TypeFamily.NUMERIC: (TypeFamily.DOUBLE,),
    TypeFamily.CHAR: (TypeFamily.TEXT,),
    TypeFamily.DATE: (TypeFamily.TIMESTAMP, TypeFamily.TIMESTAMPTZ),
    TypeFamily.TIMESTAMP: (TypeFamily.TIMESTAMPTZ,),
}
_BITS = {"smallint": 16, "integer": 32, "bigint": 64}


def _same(value: Any) -> Any:
    return value


# Both directions of what a cast can do, but to and from texts.
_CASTS: dict[tuple[TypeFamily, TypeFamily], Callable[[Any], Any]] = {
    (TypeFamily.INTEGER, TypeFamily.NUMERIC): Decimal,
    (TypeFamily.INTEGER, TypeFamily.DOUBLE): float,
    (TypeFamily.INTEGER, TypeFamily.BOOLEAN): bool,
    (TypeFamily.INTEGER, TypeFamily.INTEGER): _same,
    (TypeFamily.BOOLEAN, TypeFamily.INTEGER): int,
    (TypeFamily.NUMERIC, TypeFamily.DOUBLE): numbers.to_double,
    (TypeFamily.NUMERIC, TypeFamily.INTEGER): numbers.to_integer,
    (TypeFamily.REAL, TypeFamily.DOUBLE): _same,
    (TypeFamily.DOUBLE, TypeFamily.INTEGER): numbers.to_integer,
    (TypeFamily.DATE, TypeFamily.TIMESTAMP): datetimes.from_days,
    (TypeFamily.DATE, TypeFamily.TIMESTAMPTZ): datetimes.from_days,
    (TypeFamily.TIMESTAMP, TypeFamily.TIMESTAMPTZ): _same,
    (TypeFamily.TIMESTAMPTZ, TypeFamily.TIMESTAMP): _same,
    (TypeFamily.TIMESTAMP, TypeFamily.DATE): datetimes.to_day,
    (TypeFamily.TIMESTAMPTZ, TypeFamily.DATE): datetimes.to_day,
}


_SIZE = re.compile(r"(numeric|character varying)\((\d+)(?:,(\d+))?\)")


def sized_type(family: str, size: int, scale: int = 0, *more: int) -> str:
    """A type that cuts its values to a size, as the database writes it. Raises Fault if there is no such one."""
    most = 1_000 if family == "numeric" else 10_485_760
    if more or not 1 <= size <= most or not 0 <= scale <= size or (scale and family != "numeric"):
        raise Fault(f"there is no {family} of this size here")
    return f"{family}({size},{scale})" if family == "numeric" else f"{family}({size})"


def _cut(type_: str) -> Callable[[Any], Any] | None:
    """The cast to a type with a size: numbers are rounded, texts are cut."""
    match = _SIZE.fullmatch(type_)
    if not match:
        return None
    size, scale = int(match[2]), int(match[3] or 0)
    if match[1] != "numeric":
        return lambda text: text[:size]
    return lambda number: numbers.within(number, size, scale)


def caster(given: TypeFamily, wanted: TypeFamily, type_: str) -> Callable[[Values], Values] | None:
    """The cast of values to a type, or None if there is none. It raises Failure for a value that cannot be cast."""
    cast = _caster(given, wanted, type_)
    if cast is None or (cut := _cut(type_)) is None:
        return cast
    return lambda values: each(wanted, cut, cast(values))


def _caster(given: TypeFamily, wanted: TypeFamily, type_: str) -> Callable[[Values], Values] | None:
    if wanted is TypeFamily.TEXT:
        return lambda values: as_text(given, values)
    if given in (TypeFamily.TEXT, TypeFamily.CHAR, TypeFamily.OTHER):
        cast: Callable[[Any], Any] | None = partial(parse_value, wanted)
    else:
        cast = _CASTS.get((given, wanted))
    if cast is None:
        return (lambda values: values) if given is wanted else None
    if bits := _BITS.get(type_):
        return lambda values: each(wanted, lambda value: numbers.whole(cast(value), bits), values)
    return lambda values: each(wanted, cast, values)
