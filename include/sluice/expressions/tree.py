"""What an expression says, before anybody knows the types of its columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Fault(ValueError):
    """What is wrong with an expression, in words; whoever knows its place adds that."""


class Image(StrEnum):
    """Which row a column is read of: the one that is judged, or that of a change after it and before it."""

    ROW = "row"
    NEW = "new"
    OLD = "old"


@dataclass(frozen=True)
class Literal:
    """A text in quotes; its type is what is asked of it. None is NULL."""

    text: str | None


@dataclass(frozen=True)
class Number:
    """A number as it is written, without a sign."""

    text: str


@dataclass(frozen=True)
class Truth:
    """TRUE or FALSE."""

    true: bool


@dataclass(frozen=True)
class Field:
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

    of: Node
    type: str


Node = Literal | Number | Truth | Field | Call | Case | Cast


def fields(node: Node) -> Iterator[Field]:
    """Every column that it reads."""
    if isinstance(node, Field):
        yield node
    for part in _parts(node):
        yield from fields(part)


def _parts(node: Node) -> Iterator[Node]:
    if isinstance(node, Call):
        yield from node.arguments
    elif isinstance(node, Case):
        for branch in node.branches:
            yield from branch
        yield node.otherwise
    elif isinstance(node, Cast):
        yield node.of
