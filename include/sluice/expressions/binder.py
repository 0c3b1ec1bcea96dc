"""An expression and the columns of a table -> something that can be evaluated, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.expressions.bound_expression import BoundExpression, cast, coerce, constant, number, repeat, unify
from sluice.expressions.operators import FORMS, call, choice
from sluice.expressions.tree import BooleanLiteral, Case, Cast, ColumnReference, Fault, Literal, Node, NumberLiteral
from sluice.expressions.value_types import Type, TypeFamily, read
from sluice.model.layout import Column


class Binder:
    """Binds to the columns of one table."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns_by_name = {
            column.name: (index, Type.from_name(column.type)) for index, column in enumerate(columns)
        }

    def bind(self, node: Node) -> BoundExpression:
        """Raises Fault: a column that is not there, or types that do not fit."""
        if isinstance(node, ColumnReference):
            return self._field(node)
        if isinstance(node, Literal):
            return BoundExpression(Type.plain(TypeFamily.UNKNOWN), repeat(TypeFamily.UNKNOWN, node.text), constant=node)
        if isinstance(node, BooleanLiteral):
            return constant(TypeFamily.BOOLEAN, node.true)
        if isinstance(node, NumberLiteral):
            return number(node)
        if isinstance(node, Cast):
            return cast(self.bind(node.value), node.type)
        if isinstance(node, Case):
            return self._case(node)
        arguments = [self.bind(argument) for argument in node.arguments]
        return FORMS.get(node.name, call)(node, arguments)

    def _field(self, node: ColumnReference) -> BoundExpression:
        if node.name not in self._columns_by_name:
            raise Fault(f"there is no column {node.name}; there is {', '.join(self._columns_by_name)}")
        index, type_ = self._columns_by_name[node.name]
        return BoundExpression(type_, lambda rows: read(type_.kind, rows.texts(node.image, index)))

    def _case(self, node: Case) -> BoundExpression:
        conditions = [coerce(self.bind(met), TypeFamily.BOOLEAN, "WHEN") for met, _ in node.branches]
        values = unify([self.bind(value) for value in (*(then for _, then in node.branches), node.otherwise)], "CASE")
        return choice(conditions, values)
