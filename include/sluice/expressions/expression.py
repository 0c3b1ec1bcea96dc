"""Expressions as the rest of Sluice meets them: read, checked against columns, evaluated over images of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sluice.errors import SluiceError
from sluice.expressions.binder import Binder
from sluice.expressions.bound_expression import BoundExpression
from sluice.expressions.numbers import Failure
from sluice.expressions.rows import RowImages
from sluice.expressions.tree import Cast, ColumnReference, Fault, Image, Node, fields
from sluice.expressions.value_types import Type, TypeFamily, parse_value, print_values, to_column
from sluice.model.layout import Column


def parse(text: str) -> Expression:
    """Read an expression.

    Raises:
        Fault: it is none, or has something that the language has not.
    """
    from sluice.expressions import parser  # the parser takes longer to import than most commands run

    return Expression(text, parser.read(text))


def constant(text: str, type_: str) -> str:
    """A literal as the database prints a value of that type. Raises Fault if it is invalid."""
    kind = Type.from_name(type_).kind
    try:
        return str(print_values(kind, to_column(kind, [parse_value(kind, text)]))[0])
    except Failure as failure:
        raise Fault(f"{text!r} as {type_}: {failure}") from None


def is_text(type_: str) -> bool:
    """Whether a type is a text type."""
    return Type.from_name(type_).kind in (TypeFamily.TEXT, TypeFamily.CHAR)


@dataclass(frozen=True)
class Expression:
    """A parsed expression whose types are not known yet."""

    text: str
    node: Node

    @cached_property
    def columns(self) -> frozenset[str]:
        """The names of the columns that it reads, of whichever image."""
        return frozenset(field.name for field in fields(self.node))

    @cached_property
    def images(self) -> frozenset[Image]:
        """The images that it reads: ROW is a column's name alone, NEW and OLD are `new.x` and `old.x`."""
        return frozenset(field.image for field in fields(self.node))

    @property
    def column(self) -> str | None:
        """The column that it is, cast or not; it is NULL where that is."""
        node = self.node
        while isinstance(node, Cast):
            node = node.value
        return node.name if isinstance(node, ColumnReference) and node.image is Image.ROW else None

    def condition(self, columns: Sequence[Column]) -> Condition:
        """It as a condition on rows of these columns. Raises Fault if it is none."""
        bound = Binder(columns).bind(self.node)
        if bound.constant is not None or bound.kind is not TypeFamily.BOOLEAN:
            raise Fault(f"{self.text!r} is no condition, but {bound.type.name}")
        return Condition(self, bound)

    def value(self, columns: Sequence[Column]) -> Value:
        """It as something computed of rows of these columns. Raises Fault if it cannot be."""
        bound = Binder(columns).bind(self.node)
        if bound.constant is not None:
            bound = Binder(columns).bind(Cast(self.node, "text"))
        index = (
            [column.name for column in columns].index(self.node.name)
            if isinstance(self.node, ColumnReference)
            else None
        )
        return Value(self, bound, index)


@dataclass(frozen=True)
class Condition:
    """A condition on rows whose columns are known."""

    expression: Expression
    bound: BoundExpression

    def holds(self, row: Any, *, new: Any = None, old: Any = None) -> pa.BooleanArray:
        """For which rows it is true; NULL is not.

        Args:
            row, new, old: a list of texts for each row, in the order of the columns, or null; without one, its columns
                are NULL.

        Raises:
            SluiceError: SLC-162 it cannot be evaluated for one of them.
        """
        return _evaluate(self.expression, row, new, old, lambda rows: pc.fill_null(self.bound.run(rows), False))


@dataclass(frozen=True)
class Value:
    """An expression bound to known columns."""

    expression: Expression
    bound: BoundExpression
    index: int | None

    @property
    def type(self) -> str:
        """The type of what comes out, as the database writes it."""
        return self.bound.type.name

    def texts(self, row: Any, *, new: Any = None, old: Any = None) -> pa.StringArray:
        """The value for each row as the database prints it, null for NULL; arguments and errors as in `holds`."""

        def run(rows: RowImages) -> pa.StringArray:
            if self.index is not None and isinstance(field := self.expression.node, ColumnReference):
                return rows.texts(field.image, self.index)
            return print_values(self.bound.kind, self.bound.run(rows))

        return _evaluate(self.expression, row, new, old, run)


def _evaluate(expression: Expression, row: Any, new: Any, old: Any, run: Callable[[RowImages], Any]) -> Any:
    given = {Image.ROW: row, Image.NEW: new, Image.OLD: old}
    images = {
        image: lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
        for image, lists in given.items()
        if lists is not None
    }
    try:
        return run(RowImages(images, len(row)))
    except Failure as failure:
        why = str(failure)
    except pa.ArrowInvalid as error:
        # What else it says may hold a value.
        why = "division by zero" if "divide by zero" in str(error) else "a whole number has more than 64 bits"
    raise SluiceError(
        162,
        f"the expression {expression.text!r} cannot be evaluated for one of the rows: {why}",
        "fix it in the configuration, for example by a CASE that takes care of such rows, or the row on the master; "
        "nothing was changed",
    )
