"""Operators and functions that have rules of their own, and how all others find the way to be called."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from sluice.expressions import casts
from sluice.expressions.bound_expression import BoundExpression, advice, cast, coerce, convert, unify
from sluice.expressions.functions import COMPARISONS, OPERATIONS, Operation, comparison, lower
from sluice.expressions.rows import RowImages
from sluice.expressions.tree import Call, Fault
from sluice.expressions.value_types import Type, TypeFamily, Values, print_values, to_column, to_list
from sluice.model.limits import MOST_OF_PATTERN


def choice(conditions: Sequence[BoundExpression], values: Sequence[BoundExpression]) -> BoundExpression:
    """The value that belongs to the first condition that is true; each is evaluated where it is asked for."""
    type_ = values[0].type

    def run(rows: RowImages) -> Values:
        column: list[object] = [None] * len(rows)
        rest, indices = rows, pa.array(range(len(rows)), pa.int64())
        for number, value in enumerate(values):
            if number < len(conditions):
                met = pc.fill_null(conditions[number].run(rest), False)
            else:
                met = pa.array([True] * len(rest), pa.bool_())
            if pc.any(met).as_py():
                for index, item in zip(
                    indices.filter(met).to_pylist(), to_list(value.run(rest.where(met))), strict=True
                ):
                    column[index] = item
            missed = pc.invert(met)
            rest, indices = rest.where(missed), indices.filter(missed)
        return to_column(type_.kind, column)

    return BoundExpression(type_, run, risky=any(part.risky for part in (*conditions, *values)))


def _junction(node: Call, parts: Sequence[BoundExpression]) -> BoundExpression:
    """AND and OR: from left to right; what may fail is not evaluated where the outcome is known."""
    tests = [coerce(part, TypeFamily.BOOLEAN, node.name.upper()) for part in parts]
    join = pc.and_kleene if node.name == "and" else pc.or_kleene

    def run(rows: RowImages) -> Values:
        outcome = tests[0].run(rows)
        for test in tests[1:]:
            if not test.risky:
                outcome = join(outcome, test.run(rows))
                continue
            decided = pc.fill_null(outcome if node.name == "or" else pc.invert(outcome), False)
            open_ = pc.invert(decided)
            outcome = pc.replace_with_mask(outcome, open_, join(outcome.filter(open_), test.run(rows.where(open_))))
        return outcome

    return BoundExpression(Type.plain(TypeFamily.BOOLEAN), run, risky=any(test.risky for test in tests))


def _compare(node: Call, sides: Sequence[BoundExpression]) -> BoundExpression:
    left, right = sides
    if TypeFamily.REAL in (left.kind, right.kind) and not (left.constant or right.constant):
        sides = [
            convert(side, Type.plain(TypeFamily.DOUBLE)) if side.kind is TypeFamily.REAL else side for side in sides
        ]
    if TypeFamily.CHAR in (left.kind, right.kind) and any(
        side.type.name.startswith("character varying") for side in sides
    ):
        raise Fault(f"{node.name}: {left.type.name} and {right.type.name} differ in their blanks; cast one: x::text")
    sides = unify(sides, node.name)
    kind = sides[0].kind
    if kind is TypeFamily.OTHER:
        raise Fault(f"{node.name}: {sides[0].type.name} is not compared here{advice(sides[0])}")
    if kind is TypeFamily.REAL:
        sides = [convert(side, Type.plain(TypeFamily.DOUBLE)) for side in sides]
    if kind is TypeFamily.CHAR:
        sides = [convert(side, Type.plain(TypeFamily.TEXT)) for side in sides]
    return _apply(comparison(node.name, sides[0].kind), sides)


def _distinct(node: Call, sides: Sequence[BoundExpression]) -> BoundExpression:
    differ = _compare(Call("<>", node.arguments), sides)
    nulls = [_null(node, [side]) for side in sides]

    def run(rows: RowImages) -> Values:
        left, right = (null.run(rows) for null in nulls)
        return pc.coalesce(differ.run(rows), pc.xor(left, right))

    return BoundExpression(Type.plain(TypeFamily.BOOLEAN), run, risky=differ.risky)


def _null(node: Call, arguments: Sequence[BoundExpression]) -> BoundExpression:
    (argument,) = arguments

    def run(rows: RowImages) -> Values:
        values = argument.run(rows)
        return (
            pa.array([value is None for value in values], pa.bool_())
            if isinstance(values, list)
            else pc.is_null(values)
        )

    return BoundExpression(Type.plain(TypeFamily.BOOLEAN), run, risky=argument.risky)


def _coalesce(node: Call, arguments: Sequence[BoundExpression]) -> BoundExpression:
    values = unify(arguments, "COALESCE")
    nulls = [_null(node, [value]) for value in values[:-1]]
    return choice([_apply(OPERATIONS["not"][0], [test]) for test in nulls], values)


def _concat(node: Call, arguments: Sequence[BoundExpression]) -> BoundExpression:
    """Everything as it is printed; NULL adds nothing."""
    parts = [coerce(argument, TypeFamily.TEXT, "concat") if argument.constant else argument for argument in arguments]

    def run(rows: RowImages) -> Values:
        texts = [pc.fill_null(print_values(part.kind, part.run(rows)), "") for part in parts]
        return reduce(lambda left, right: pc.binary_join_element_wise(left, right, ""), texts)

    return BoundExpression(Type.plain(TypeFamily.TEXT), run, risky=any(part.risky for part in parts))


def _join_texts(node: Call, arguments: Sequence[BoundExpression]) -> BoundExpression:
    """`||`: one side is a text, and the other becomes one."""
    if not any(argument.kind in (TypeFamily.TEXT, TypeFamily.CHAR, TypeFamily.UNKNOWN) for argument in arguments):
        raise Fault(
            f"||: neither {' nor '.join(argument.type.name for argument in arguments)} is a text{advice(arguments[0])}"
        )
    if TypeFamily.OTHER in [argument.kind for argument in arguments]:
        raise Fault(f"||: {' and '.join(argument.type.name for argument in arguments)}: cast it to text first: x::text")
    return _apply(OPERATIONS["||"][0], [cast(argument, "text") for argument in arguments])


def _like(node: Call, arguments: Sequence[BoundExpression]) -> BoundExpression:
    """LIKE with a constant pattern, so that faults of the pattern are found at once."""
    text, pattern = arguments
    if pattern.constant is None or pattern.constant.text is None:
        raise Fault(f"{node.name.upper()}: the pattern is a text in quotes")
    if len(pattern.constant.text) > MOST_OF_PATTERN:
        raise Fault(f"{node.name.upper()}: the pattern has more than {MOST_OF_PATTERN} signs")
    if text.kind is TypeFamily.CHAR:
        raise Fault(f"{node.name.upper()}: {text.type.name} ends in blanks; write x::text to do without them")
    column, regex = coerce(text, TypeFamily.TEXT, node.name.upper()), pattern.constant.text
    if node.name == "ilike":
        column = _apply(OPERATIONS["lower"][0], [column])
        regex = lower(pa.array([regex]))[0].as_py()
    fits = f"(?s)\\A{_expression(regex)}\\z"
    return _apply(
        Operation((TypeFamily.TEXT,), TypeFamily.BOOLEAN, column=lambda texts: pc.match_substring_regex(texts, fits)),
        [column],
    )


def _expression(pattern: str) -> str:
    """A LIKE pattern as a regular expression."""
    regex, signs = "", iter(pattern)
    for sign in signs:
        if sign == "\\":
            sign = next(signs, "")
            if not sign:
                raise Fault(f"the pattern {pattern!r} ends in the backslash that should make a sign plain")
            regex += re.escape(sign)
        else:
            regex += {"%": ".*", "_": "."}.get(sign, re.escape(sign))
    return regex


def call(node: Call, arguments: Sequence[BoundExpression]) -> BoundExpression:
    operations = [operation for operation in OPERATIONS[node.name] if len(operation.takes) == len(arguments)]
    if not operations:
        raise Fault(f"{node.name} does not take {len(arguments)} arguments")
    if all(argument.constant for argument in arguments) and len(operations) > 1:
        raise Fault(f"{node.name}: nobody knows which type its arguments have; cast one")
    for operation in operations:
        if all(_fits(argument, kind) for argument, kind in zip(arguments, operation.takes, strict=True)):
            if node.name == "round" and len(arguments) == 1 and arguments[0].kind is TypeFamily.INTEGER:
                raise Fault("round: a whole number needs no rounding")
            sides = zip(arguments, operation.takes, strict=True)
            return _apply(operation, [coerce(argument, kind, node.name) for argument, kind in sides])
    given = " and ".join(argument.type.name for argument in arguments)
    raise Fault(f"{node.name} cannot be used with {given}{''.join({advice(argument) for argument in arguments})}")


def _fits(argument: BoundExpression, kind: TypeFamily) -> bool:
    return argument.constant is not None or argument.kind is kind or kind in casts.WIDER.get(argument.kind, ())


def _apply(operation: Operation, arguments: Sequence[BoundExpression]) -> BoundExpression:
    return BoundExpression(
        Type.plain(operation.gives),
        lambda rows: operation.run(*(argument.run(rows) for argument in arguments)),
        risky=operation.risky or any(argument.risky for argument in arguments),
    )


FORMS: dict[str, Callable[[Call, Sequence[BoundExpression]], BoundExpression]] = {
    **dict.fromkeys(COMPARISONS, _compare),
    "and": _junction,
    "or": _junction,
    "is null": _null,
    "is distinct from": _distinct,
    "like": _like,
    "ilike": _like,
    "||": _join_texts,
    "concat": _concat,
    "coalesce": _coalesce,
}
