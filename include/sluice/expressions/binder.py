"""An expression and the columns of a table -> something that can be evaluated, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.expressions.bound import Bound, alike, all_of, cast, coerced, constant, number
from sluice.expressions.operators import FORMS, call, choice
from sluice.expressions.tree import Case, Cast, Fault, Field, Literal, Node, Number, Truth
from sluice.expressions.value_types import Type, TypeFamily, read
from sluice.model.layout import Column


class Binder:
    """Binds to the columns of one table."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns_by_name = {column.name: (index, Type.of(column.type)) for index, column in enumerate(columns)}

    def bound(self, node: Node) -> Bound:
        """Raises Fault: a column that is not there, or types that do not fit."""
        if isinstance(node, Field):
            return self._field(node)
        if isinstance(node, Literal):
            return Bound(Type.plain(TypeFamily.UNKNOWN), all_of(TypeFamily.UNKNOWN, node.text), constant=node)
        if isinstance(node, Truth):
            return constant(TypeFamily.BOOLEAN, node.true)
        if isinstance(node, Number):
            return number(node)
        if isinstance(node, Cast):
            return cast(self.bound(node.of), node.type)
        if isinstance(node, Case):
            return self._case(node)
        arguments = [self.bound(one) for one in node.arguments]
        return FORMS.get(node.name, call)(node, arguments)

    def _field(self, node: Field) -> Bound:
        if node.name not in self._columns_by_name:
            raise Fault(f"there is no column {node.name}; there is {', '.join(self._columns_by_name)}")
        index, type_ = self._columns_by_name[node.name]
        return Bound(type_, lambda rows: read(type_.kind, rows.texts(node.image, index)))

    def _case(self, node: Case) -> Bound:
        conditions = [coerced(self.bound(met), TypeFamily.BOOLEAN, "WHEN") for met, _ in node.branches]
        values = alike([self.bound(one) for one in (*(then for _, then in node.branches), node.otherwise)], "CASE")
        return choice(conditions, values)
