"""A portable statement in the words of one vendor."""

from __future__ import annotations

from abc import ABC, abstractmethod

from sluice.model.names import TableName
from sluice.vendors.portable.statement import (
    Among,
    Arithmetic,
    Compared,
    Condition,
    Day,
    Delete,
    Holds,
    Insert,
    IsNull,
    Joined,
    Moment,
    Name,
    Not,
    Null,
    Number,
    Portable,
    Select,
    Shown,
    Text,
    Truth,
    Update,
    Value,
)


class Dialect(ABC):
    """The words of one vendor. All brackets are written, so no precedence counts."""

    @abstractmethod
    def quoted(self, name: str) -> str:
        """A name of a column."""

    @abstractmethod
    def qualified(self, name: TableName) -> str:
        """A name of a table."""

    @abstractmethod
    def text(self, text: str) -> str:
        """A literal text."""

    @abstractmethod
    def truth(self, *, holds: bool) -> str:
        """A literal for TRUE or FALSE."""

    @abstractmethod
    def day(self, text: str) -> str:
        """A literal date."""

    @abstractmethod
    def moment(self, text: str, *, has_zone: bool) -> str:
        """A literal time of a day."""

    def column(self, name: str) -> str:
        """A column whose value is compared or shown."""
        return self.quoted(name)

    def shown(self, one: Shown) -> str:
        """A column of an answer."""
        inner = "*" if one.name is None else self.quoted(one.name.column)
        return f"{one.function}({inner})" if one.function else inner

    def statement(self, one: Portable, name: TableName) -> str:
        """The statement on a table that is called so here."""
        table = self.qualified(name)
        match one:
            case Select(_, shown, where):
                return f"SELECT {', '.join(map(self.shown, shown))} FROM {table}{self.where(where)}"
            case Insert(_, columns, rows):
                listed = ", ".join(map(self.quoted, columns))
                values = ", ".join(f"({', '.join(map(self.value, row))})" for row in rows)
                return f"INSERT INTO {table} ({listed}) VALUES {values}"
            case Update(_, becomes, where):
                sets = ", ".join(f"{self.quoted(column)} = {self.value(value)}" for column, value in becomes)
                return f"UPDATE {table} SET {sets}{self.where(where)}"
            case Delete(_, where, _):
                return f"DELETE FROM {table}{self.where(where)}"

    def where(self, condition: Condition | None) -> str:
        """The condition behind a statement, if it has one."""
        return "" if condition is None else f" WHERE {self.condition(condition)}"

    def condition(self, one: Condition) -> str:
        """A condition, in brackets."""
        match one:
            case Joined(word, left, right):
                return f"({self.condition(left)} {word} {self.condition(right)})"
            case Not(inner):
                return f"(NOT {self.condition(inner)})"
            case IsNull(name):
                return f"({self.quoted(name.column)} IS NULL)"
            case Holds(name):
                return f"({self.quoted(name.column)} = {self.truth(holds=True)})"
            case Compared(sign, left, right):
                return f"({self.compared(left)} {sign} {self.compared(right)})"
            case Among(value, others):
                return f"({self.compared(value)} IN ({', '.join(map(self.compared, others))}))"

    def compared(self, one: Value) -> str:
        """A value on one side of a comparison."""
        return self.column(one.column) if isinstance(one, Name) else self.value(one)

    def value(self, one: Value) -> str:
        """A value."""
        match one:
            case Name(column):
                return self.quoted(column)
            case Number(digits):
                # Two signs are a comment.
                return f"({digits})" if digits.startswith("-") else digits
            case Text(text):
                return self.text(text)
            case Truth(holds):
                return self.truth(holds=holds)
            case Day(text):
                return self.day(text)
            case Moment(text, has_zone):
                return self.moment(text, has_zone=has_zone)
            case Null():
                return "NULL"
            case Arithmetic(sign, left, right):
                return f"({self.value(left)} {sign} {self.value(right)})"
