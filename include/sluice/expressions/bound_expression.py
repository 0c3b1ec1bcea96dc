"""Expressions bound to columns: typed values, and conversions to other types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from sluice.expressions import casts, numbers
from sluice.expressions.numbers import Failure
from sluice.expressions.rows import RowImages
from sluice.expressions.tree import Fault, Literal, NumberLiteral
from sluice.expressions.value_types import Type, TypeFamily, Values, parse_value, to_column
from sluice.model.limits import MOST_DIGITS


@dataclass(frozen=True)
class BoundExpression:
    """Something whose type is known.

    Attributes:
        run: its values for these rows.
        risky: there are values with which it fails.
        constant: the literal that it is, as long as its kind is UNKNOWN.
    """

    type: Type
    run: Callable[[RowImages], Values]
    risky: bool = False
    constant: Literal | None = None

    @property
    def kind(self) -> TypeFamily:
        return self.type.kind


def repeat(kind: TypeFamily, value: object) -> Callable[[RowImages], Values]:
    return lambda rows: to_column(kind, [value] * len(rows))


def constant(kind: TypeFamily, value: object) -> BoundExpression:
    return BoundExpression(Type.plain(kind), repeat(kind, value))


def number(node: NumberLiteral) -> BoundExpression:
    try:
        if node.text.isdecimal() and len(node.text) < 20 and int(node.text) < 1 << 63:
            return constant(TypeFamily.INTEGER, int(node.text))
        return constant(TypeFamily.NUMERIC, numbers.expect_digits(numbers.numeric(node.text), MOST_DIGITS))
    except Failure as failure:
        raise Fault(f"{node.text}: {failure}") from None


def coerce(bound: BoundExpression, kind: TypeFamily, where: str, name: str = "") -> BoundExpression:
    """The same as a value of that kind. Raises Fault if it does not become one by itself."""
    if bound.constant:
        try:
            text = bound.constant.text
            value = None if text is None else parse_value(kind, text)
            return constant(kind, numbers.expect_digits(value, MOST_DIGITS) if isinstance(value, Decimal) else value)
        except Failure as failure:
            raise Fault(f"{bound.constant.text!r} beside {name or kind.value}: {failure}") from None
    if bound.kind is kind:
        return bound
    if kind not in casts.WIDER.get(bound.kind, ()):
        raise Fault(f"{where}: {bound.type.name} is not {_kind_name(kind)}{advice(bound)}")
    return convert(bound, Type.plain(kind))


def convert(bound: BoundExpression, to: Type) -> BoundExpression:
    cast = casts.caster(bound.kind, to.kind, to.name)
    if cast is None:
        raise Fault(f"{bound.type.name} cannot be cast to {to.name}")
    run = bound.run
    return BoundExpression(to, lambda rows: cast(run(rows)), risky=bound.risky or to.kind is not TypeFamily.TEXT)


def cast(bound: BoundExpression, to: str) -> BoundExpression:
    if bound.constant:
        text = coerce(bound, TypeFamily.TEXT, "CAST")
        if bound.constant.text is None or to == TypeFamily.TEXT:
            return replace(coerce(bound, Type.from_name(to).kind, "CAST"), type=Type.from_name(to))
        coerce(bound, Type.from_name(to).kind, "CAST", to)
        return convert(text, Type.from_name(to))
    return convert(bound, Type.from_name(to))


def _kind_name(kind: TypeFamily) -> str:
    return "a text" if kind is TypeFamily.TEXT else kind.value


def advice(bound: BoundExpression) -> str:
    if bound.kind is TypeFamily.OTHER:
        return "; values of this type can be tested for NULL, or cast to text: x::text"
    if bound.kind is TypeFamily.REAL:
        return "; cast it: x::double precision"
    return ""


def unify(values: Sequence[BoundExpression], where: str) -> list[BoundExpression]:
    """Convert all to one common kind. Raises Fault if there is none."""
    typed = [value for value in values if value.constant is None]
    kind = typed[0].kind if typed else TypeFamily.TEXT
    for value in typed[1:]:
        if value.kind is not kind and kind in casts.WIDER.get(value.kind, ()):
            continue
        if value.kind is not kind and value.kind not in casts.WIDER.get(kind, ()):
            raise Fault(f"{where}: {typed[0].type.name} and {value.type.name} are not of one kind{advice(value)}")
        kind = value.kind
    types = {value.type.name for value in typed}
    if kind is TypeFamily.OTHER and len(types) > 1:
        raise Fault(f"{where}: {' and '.join(sorted(types))} are not of one kind")
    converted = [coerce(value, kind, where, typed[0].type.name if typed else "") for value in values]
    return [replace(value, type=typed[0].type) for value in converted] if len(types) == 1 else converted
