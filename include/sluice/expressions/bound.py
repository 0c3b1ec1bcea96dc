"""Expressions bound to columns: typed values, and conversions to other types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from sluice.expressions import casts, numbers
from sluice.expressions.numbers import Failure
from sluice.expressions.rows import RowImages
from sluice.expressions.tree import Fault, Literal, Number
from sluice.expressions.value_types import Type, TypeFamily, Values, packed, parse
from sluice.model.limits import MOST_DIGITS


@dataclass(frozen=True)
class Bound:
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


def all_of(kind: TypeFamily, value: object) -> Callable[[RowImages], Values]:
    return lambda rows: packed(kind, [value] * len(rows))


def constant(kind: TypeFamily, value: object) -> Bound:
    return Bound(Type.plain(kind), all_of(kind, value))


def number(node: Number) -> Bound:
    try:
        if node.text.isdecimal() and len(node.text) < 20 and int(node.text) < 1 << 63:
            return constant(TypeFamily.INTEGER, int(node.text))
        return constant(TypeFamily.NUMERIC, numbers.bounded(numbers.numeric(node.text), MOST_DIGITS))
    except Failure as failure:
        raise Fault(f"{node.text}: {failure}") from None


def coerced(one: Bound, kind: TypeFamily, where: str, name: str = "") -> Bound:
    """The same as a value of that kind. Raises Fault if it does not become one by itself."""
    if one.constant:
        try:
            text = one.constant.text
            value = None if text is None else parse(kind, text)
            return constant(kind, numbers.bounded(value, MOST_DIGITS) if isinstance(value, Decimal) else value)
        except Failure as failure:
            raise Fault(f"{one.constant.text!r} beside {name or kind.value}: {failure}") from None
    if one.kind is kind:
        return one
    if kind not in casts.WIDER.get(one.kind, ()):
        raise Fault(f"{where}: {one.type.name} is not {_named(kind)}{advice(one)}")
    return converted(one, Type.plain(kind))


def converted(one: Bound, to: Type) -> Bound:
    cast = casts.caster(one.kind, to.kind, to.name)
    if cast is None:
        raise Fault(f"{one.type.name} cannot be cast to {to.name}")
    run = one.run
    return Bound(to, lambda rows: cast(run(rows)), risky=one.risky or to.kind is not TypeFamily.TEXT)


def cast(one: Bound, to: str) -> Bound:
    if one.constant:
        text = coerced(one, TypeFamily.TEXT, "CAST")
        if one.constant.text is None or to == TypeFamily.TEXT:
            return replace(coerced(one, Type.of(to).kind, "CAST"), type=Type.of(to))
        coerced(one, Type.of(to).kind, "CAST", to)
        return converted(text, Type.of(to))
    return converted(one, Type.of(to))


def _named(kind: TypeFamily) -> str:
    return "a text" if kind is TypeFamily.TEXT else kind.value


def advice(one: Bound) -> str:
    if one.kind is TypeFamily.OTHER:
        return "; values of this type can be tested for NULL, or cast to text: x::text"
    if one.kind is TypeFamily.REAL:
        return "; cast it: x::double precision"
    return ""


def alike(ones: Sequence[Bound], where: str) -> list[Bound]:
    """Convert all to one common kind. Raises Fault if there is none."""
    known = [one for one in ones if one.constant is None]
    kind = known[0].kind if known else TypeFamily.TEXT
    for one in known[1:]:
        if one.kind is not kind and kind in casts.WIDER.get(one.kind, ()):
            continue
        if one.kind is not kind and one.kind not in casts.WIDER.get(kind, ()):
            raise Fault(f"{where}: {known[0].type.name} and {one.type.name} are not of one kind{advice(one)}")
        kind = one.kind
    types = {one.type.name for one in known}
    if kind is TypeFamily.OTHER and len(types) > 1:
        raise Fault(f"{where}: {' and '.join(sorted(types))} are not of one kind")
    made = [coerced(one, kind, where, known[0].type.name if known else "") for one in ones]
    return [replace(one, type=known[0].type) for one in made] if len(types) == 1 else made
