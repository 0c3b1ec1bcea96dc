"""Operators and functions that have rules of their own, and how all others find the way to be called."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from sluice.expressions import casts
from sluice.expressions.bound import Bound, advice, alike, cast, coerced, converted
from sluice.expressions.functions import COMPARISONS, OPERATIONS, Operation, comparison, lower
from sluice.expressions.rows import RowImages
from sluice.expressions.tree import Call, Fault
from sluice.expressions.value_types import Type, TypeFamily, Values, listed, packed, printed
from sluice.model.limits import MOST_OF_PATTERN


def choice(conditions: Sequence[Bound], values: Sequence[Bound]) -> Bound:
    """The value that belongs to the first condition that is true; each is evaluated where it is asked for."""
    type_ = values[0].type

    def run(rows: RowImages) -> Values:
        found: list[object] = [None] * len(rows)
        left, indices = rows, pa.array(range(len(rows)), pa.int64())
        for number, value in enumerate(values):
            if number < len(conditions):
                met = pc.fill_null(conditions[number].run(left), False)
            else:
                met = pa.array([True] * len(left), pa.bool_())
            if pc.any(met).as_py():
                for index, one in zip(indices.filter(met).to_pylist(), listed(value.run(left.where(met))), strict=True):
                    found[index] = one
            missed = pc.invert(met)
            left, indices = left.where(missed), indices.filter(missed)
        return packed(type_.kind, found)

    return Bound(type_, run, risky=any(one.risky for one in (*conditions, *values)))


def _junction(node: Call, parts: Sequence[Bound]) -> Bound:
    """AND and OR: from left to right; what may fail is not evaluated where the outcome is known."""
    tests = [coerced(one, TypeFamily.BOOLEAN, node.name.upper()) for one in parts]
    join = pc.and_kleene if node.name == "and" else pc.or_kleene

    def run(rows: RowImages) -> Values:
        known = tests[0].run(rows)
        for test in tests[1:]:
            if not test.risky:
                known = join(known, test.run(rows))
                continue
            decided = pc.fill_null(known if node.name == "or" else pc.invert(known), False)
            open_ = pc.invert(decided)
            known = pc.replace_with_mask(known, open_, join(known.filter(open_), test.run(rows.where(open_))))
        return known

    return Bound(Type.plain(TypeFamily.BOOLEAN), run, risky=any(one.risky for one in tests))


def _compared(node: Call, sides: Sequence[Bound]) -> Bound:
    one, other = sides
    if TypeFamily.REAL in (one.kind, other.kind) and not (one.constant or other.constant):
        sides = [
            converted(side, Type.plain(TypeFamily.DOUBLE)) if side.kind is TypeFamily.REAL else side for side in sides
        ]
    if TypeFamily.CHAR in (one.kind, other.kind) and any(
        side.type.name.startswith("character varying") for side in sides
    ):
        raise Fault(f"{node.name}: {one.type.name} and {other.type.name} differ in their blanks; cast one: x::text")
    sides = alike(sides, node.name)
    kind = sides[0].kind
    if kind is TypeFamily.OTHER:
        raise Fault(f"{node.name}: {sides[0].type.name} is not compared here{advice(sides[0])}")
    if kind is TypeFamily.REAL:
        sides = [converted(side, Type.plain(TypeFamily.DOUBLE)) for side in sides]
    if kind is TypeFamily.CHAR:
        sides = [converted(side, Type.plain(TypeFamily.TEXT)) for side in sides]
    return _operated(comparison(node.name, sides[0].kind), sides)


def _distinct(node: Call, sides: Sequence[Bound]) -> Bound:
    differ = _compared(Call("<>", node.arguments), sides)
    nulls = [_null(node, [side]) for side in sides]

    def run(rows: RowImages) -> Values:
        one, other = (null.run(rows) for null in nulls)
        return pc.coalesce(differ.run(rows), pc.xor(one, other))

    return Bound(Type.plain(TypeFamily.BOOLEAN), run, risky=differ.risky)


def _null(node: Call, arguments: Sequence[Bound]) -> Bound:
    (of,) = arguments

    def run(rows: RowImages) -> Values:
        values = of.run(rows)
        return pa.array([one is None for one in values], pa.bool_()) if isinstance(values, list) else pc.is_null(values)

    return Bound(Type.plain(TypeFamily.BOOLEAN), run, risky=of.risky)


def _coalesce(node: Call, arguments: Sequence[Bound]) -> Bound:
    values = alike(arguments, "COALESCE")
    given = [_null(node, [one]) for one in values[:-1]]
    return choice([_operated(OPERATIONS["not"][0], [one]) for one in given], values)


def _concat(node: Call, arguments: Sequence[Bound]) -> Bound:
    """Everything as it is printed; NULL adds nothing."""
    parts = [coerced(one, TypeFamily.TEXT, "concat") if one.constant else one for one in arguments]

    def run(rows: RowImages) -> Values:
        texts = [pc.fill_null(printed(one.kind, one.run(rows)), "") for one in parts]
        return reduce(lambda one, other: pc.binary_join_element_wise(one, other, ""), texts)

    return Bound(Type.plain(TypeFamily.TEXT), run, risky=any(one.risky for one in parts))


def _joined(node: Call, arguments: Sequence[Bound]) -> Bound:
    """`||`: one side is a text, and the other becomes one."""
    if not any(one.kind in (TypeFamily.TEXT, TypeFamily.CHAR, TypeFamily.UNKNOWN) for one in arguments):
        raise Fault(f"||: neither {' nor '.join(one.type.name for one in arguments)} is a text{advice(arguments[0])}")
    if TypeFamily.OTHER in [one.kind for one in arguments]:
        raise Fault(f"||: {' and '.join(one.type.name for one in arguments)}: cast it to text first: x::text")
    return _operated(OPERATIONS["||"][0], [cast(one, "text") for one in arguments])


def _like(node: Call, arguments: Sequence[Bound]) -> Bound:
    """LIKE with a constant pattern, so that faults of the pattern are found at once."""
    of, pattern = arguments
    if pattern.constant is None or pattern.constant.text is None:
        raise Fault(f"{node.name.upper()}: the pattern is a text in quotes")
    if len(pattern.constant.text) > MOST_OF_PATTERN:
        raise Fault(f"{node.name.upper()}: the pattern has more than {MOST_OF_PATTERN} signs")
    if of.kind is TypeFamily.CHAR:
        raise Fault(f"{node.name.upper()}: {of.type.name} ends in blanks; write x::text to do without them")
    texts, known = coerced(of, TypeFamily.TEXT, node.name.upper()), pattern.constant.text
    if node.name == "ilike":
        texts = _operated(OPERATIONS["lower"][0], [texts])
        known = lower(pa.array([known]))[0].as_py()
    fits = f"(?s)\\A{_expression(known)}\\z"
    return _operated(
        Operation((TypeFamily.TEXT,), TypeFamily.BOOLEAN, column=lambda column: pc.match_substring_regex(column, fits)),
        [texts],
    )


def _expression(pattern: str) -> str:
    """A LIKE pattern as a regular expression."""
    made, signs = "", iter(pattern)
    for sign in signs:
        if sign == "\\":
            sign = next(signs, "")
            if not sign:
                raise Fault(f"the pattern {pattern!r} ends in the backslash that should make a sign plain")
            made += re.escape(sign)
        else:
            made += {"%": ".*", "_": "."}.get(sign, re.escape(sign))
    return made


def call(node: Call, arguments: Sequence[Bound]) -> Bound:
    operations = [one for one in OPERATIONS[node.name] if len(one.takes) == len(arguments)]
    if not operations:
        raise Fault(f"{node.name} does not take {len(arguments)} arguments")
    if all(one.constant for one in arguments) and len(operations) > 1:
        raise Fault(f"{node.name}: nobody knows which type its arguments have; cast one")
    for operation in operations:
        if all(_fits(one, kind) for one, kind in zip(arguments, operation.takes, strict=True)):
            if node.name == "round" and len(arguments) == 1 and arguments[0].kind is TypeFamily.INTEGER:
                raise Fault("round: a whole number needs no rounding")
            sides = zip(arguments, operation.takes, strict=True)
            return _operated(operation, [coerced(one, kind, node.name) for one, kind in sides])
    given = " and ".join(one.type.name for one in arguments)
    raise Fault(f"{node.name} cannot be used with {given}{''.join({advice(one) for one in arguments})}")


def _fits(one: Bound, kind: TypeFamily) -> bool:
    return one.constant is not None or one.kind is kind or kind in casts.WIDER.get(one.kind, ())


def _operated(operation: Operation, arguments: Sequence[Bound]) -> Bound:
    return Bound(
        Type.plain(operation.gives),
        lambda rows: operation.run(*(one.run(rows) for one in arguments)),
        risky=operation.risky or any(one.risky for one in arguments),
    )


FORMS: dict[str, Callable[[Call, Sequence[Bound]], Bound]] = {
    **dict.fromkeys(COMPARISONS, _compared),
    "and": _junction,
    "or": _junction,
    "is null": _null,
    "is distinct from": _distinct,
    "like": _like,
    "ilike": _like,
    "||": _joined,
    "concat": _concat,
    "coalesce": _coalesce,
}
