"""The syntax tree of an expression, without types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from sluice.model.limits import MOST_LEVELS, MOST_PARTS


class Fault(ValueError):
    """A fault of an expression, in words; callers add where it is."""


class Image(StrEnum):
    """The image that a column is read from: the row itself, or the new or the old row of a change."""

    ROW = "row"
    NEW = "new"
    OLD = "old"


@dataclass(frozen=True)
class Literal:
    """A text in quotes; its type is what is asked of it. None is NULL."""

    text: str | None


@dataclass(frozen=True)
class NumberLiteral:
    """A number as it is written, without a sign."""

    text: str


@dataclass(frozen=True)
class BooleanLiteral:
    """TRUE or FALSE."""

    true: bool


@dataclass(frozen=True)
class ColumnReference:
    """A column."""

    name: str
    image: Image


@dataclass(frozen=True)
class Call:
    """An operator or a function, by its name in lower case."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Case:
    """The value of the first condition that is true, or else the last one."""

    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node


@dataclass(frozen=True)
class Cast:
    """A value of another type, by the type's full name."""

    value: Node
    type: str


Node = Literal | NumberLiteral | BooleanLiteral | ColumnReference | Call | Case | Cast


def fields(node: Node) -> Iterator[ColumnReference]:
    """Every column that it reads."""
    if isinstance(node, ColumnReference):
        yield node
    for part in _parts(node):
        yield from fields(part)


def expect_bounded(node: Node) -> None:
    """See that it can be evaluated in time. A part that stands at several places counts at each of them.

    Raises:
        Fault: it has more levels or parts than an expression may have.
    """
    levels, parts = _measure(node, {})
    if levels > MOST_LEVELS:
        raise Fault(f"it is nested too deeply: {levels} levels, of at most {MOST_LEVELS}")
    if parts > MOST_PARTS:
        raise Fault(f"it is too large: {parts} parts, of at most {MOST_PARTS}")


def _measure(node: Node, sizes: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Its levels and its parts; each part is looked at once, however often it is there."""
    if id(node) not in sizes:
        within = [_measure(part, sizes) for part in _parts(node)]
        levels = 1 + max((levels for levels, _ in within), default=0)
        sizes[id(node)] = levels, 1 + sum(parts for _, parts in within)
    return sizes[id(node)]


def _parts(node: Node) -> Iterator[Node]:
    if isinstance(node, Call):
        yield from node.arguments
    elif isinstance(node, Case):
        for branch in node.branches:
            yield from branch
        yield node.otherwise
    elif isinstance(node, Cast):
        yield node.value
