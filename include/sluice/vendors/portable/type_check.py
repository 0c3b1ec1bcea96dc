"""Sees that a portable statement means the same whatever the columns of its table are stored as.

Each operation is taken for kinds of values alone whose databases agree on it. Texts are compared for equality, since
their order is one of each server. No number is rounded: results have no more digits than their column. Nothing is
computed from floats.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sluice.model.layout import Layout
from sluice.model.logical_type import Kind, LogicalType, logical_type
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
    not_portable,
)

_NUMBERS = {Kind.INTEGER, Kind.DECIMAL}
_MOMENTS = {Kind.TIMESTAMP, Kind.TIMESTAMP_WITH_ZONE}
_ORDERED = {*_NUMBERS, Kind.DATE, *_MOMENTS}
_COMPARABLE = {*_ORDERED, Kind.TEXT, Kind.BOOLEAN, Kind.UUID}
_EQUAL = {"=", "<>"}
# Every database computes with as many digits, and keeps so many behind the point. Source: MySQL Reference Manual,
# "DECIMAL Data Type Characteristics".
_MOST_DIGITS, _MOST_SCALE = 38, 30
_DIGITS = {16: 5, 32: 10, 64: 19}
_VARYING = {"", "character varying"}
_DAY = r"[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_DATE = re.compile(_DAY, re.ASCII)
_MOMENT = re.compile(rf"({_DAY})(?: ((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d{{1,6}}))?)?(\+00)?", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)


def fitted(statement: Portable, layout: Layout) -> Portable:
    """The statement, with literals of the kinds of its columns.

    Args:
        layout: the table's, as the master has it.

    Raises:
        SluiceError: SLC-577, it may mean something else in another database.
    """
    return _TypeCheck(layout).fitted(statement)


def columns_of(statement: Portable) -> frozenset[str]:
    """The columns whose values it reads, compares or sets; those of an answer alone are none."""
    found: set[str] = set()
    if isinstance(statement, Insert):
        found |= {*statement.columns}
    if isinstance(statement, Update):
        found |= {name for name, _ in statement.becomes}
        for _, value in statement.becomes:
            found |= _read(value)
    if isinstance(statement, Select):
        found |= {one.name.column for one in statement.shown if one.function and one.name}
    if not isinstance(statement, Insert) and statement.where is not None:
        found |= _read(statement.where)
    return frozenset(found)


def _read(part: Condition | Value) -> set[str]:
    match part:
        case Name(column):
            return {column}
        case Arithmetic(_, left, right) | Compared(_, left, right) | Joined(_, left, right):
            return _read(left) | _read(right)
        case IsNull(one) | Holds(one) | Not(one):
            return _read(one)
        case Among(value, others):
            return _read(value).union(*map(_read, others))
    return set()


@dataclass(frozen=True)
class _Size:
    """How many digits a number has at most, and how many of them behind the point."""

    digits: int
    scale: int


def _clock_digits(kind: LogicalType) -> int:
    return 6 if kind.size is None else kind.size


class _TypeCheck:
    """One statement and its table."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._kinds: Mapping[str, LogicalType] = {one.name: logical_type(one.type) for one in layout.columns}
        self._not_null = {one.name for one in layout.columns if one.not_null} | {*layout.key_names}

    def fitted(self, statement: Portable) -> Portable:
        match statement:
            case Select(table, shown, where):
                for one in shown:
                    self._expect_shown(one)
                return Select(table, shown, self._where(where))
            case Insert(table, columns, rows):
                names = [one.name for one in self._layout.columns]
                if sorted(columns) != sorted(names):
                    raise not_portable(
                        f"an INSERT gives values to all columns, since defaults are the master's: {', '.join(names)}"
                    )
                made = tuple(
                    tuple(self._assigned(name, value) for name, value in zip(columns, row, strict=True)) for row in rows
                )
                if any(_read(value) for row in made for value in row):
                    raise not_portable("a new row has columns for values")
                return Insert(table, columns, made)
            case Update(table, becomes, where):
                self._expect_apart(becomes)
                return Update(
                    table, tuple((name, self._assigned(name, value)) for name, value in becomes), self._where(where)
                )
            case Delete(table, where, is_counted):
                return Delete(table, self._where(where), is_counted)

    def _expect_apart(self, becomes: tuple[tuple[str, Value], ...]) -> None:
        """See that it does not matter in which order columns and rows are set."""
        names = [name for name, _ in becomes]
        for name, value in becomes:
            if names.count(name) > 1 or _read(value) & ({*names} - {name}):
                raise not_portable(f"{name} is set twice, or from a column that is set as well")
            if name in self._layout.key_names:
                raise not_portable(f"{name} is a part of the primary key, which rows would get one after the other")

    def _where(self, where: Condition | None) -> Condition | None:
        return None if where is None else self._condition(where)

    def _expect_shown(self, one: Shown) -> None:
        if one.name is None:
            return
        kind = self._kind(one.name).kind
        if one.function == "SUM" and kind not in _NUMBERS:
            raise not_portable(f"{one.name.column} has no sum that every database prints alike")
        if one.function in ("SUM", "MIN", "MAX") and kind in _NUMBERS:
            self._size(one.name)
        if one.function in ("MIN", "MAX") and kind not in {*_NUMBERS, Kind.DATE}:
            raise not_portable(f"the order of values of {one.name.column} is another one in each database")

    def _condition(self, one: Condition) -> Condition:
        match one:
            case Joined(word, left, right):
                return Joined(word, self._condition(left), self._condition(right))
            case Not(inner):
                return Not(self._condition(inner))
            case IsNull(name):
                self._kind(name)
                return one
            case Holds(name):
                if self._kind(name).kind is not Kind.BOOLEAN:
                    raise not_portable(f"{name.column} is not true or false by itself")
                return one
            case Compared(sign, left, right):
                kind = self._common(left, right)
                if sign not in _EQUAL and kind.kind not in _ORDERED:
                    raise not_portable(f"the order of values of the kind {kind.kind} is another one in each database")
                left, right = self._of(kind, left), self._of(kind, right)
                return Compared(sign, self._exactly(left, right), self._exactly(right, left))
            case Among(value, others):
                if not others:
                    raise not_portable("IN has no values")
                self._common(value, *others)
                kinds = [self._common(value, other) for other in others]
                found = tuple(self._of(kind, other) for kind, other in zip(kinds, others, strict=True))
                own = self._of(kinds[0], value)
                return Among(self._exactly(own, *found), tuple(self._exactly(other, own) for other in found))

    def _exactly(self, value: Value, *others: Value) -> Value:
        """A value that is compared with others. To look 2.25 up in an index of whole numbers, MariaDB rounds it, and
        finds 2. So a column with fewer digits behind the point is computed with, which no index serves.
        """
        if not isinstance(value, Name) or self._kind(value).kind not in _NUMBERS:
            return value
        behind = max(self._size(one).scale for one in others)
        return value if self._size(value).scale >= behind else Arithmetic("+", value, Number("0"))

    def _common(self, *values: Value) -> LogicalType:
        """The kind of values that are compared; that of a literal is told by another one."""
        sides = [kind for one in values if (kind := self._told(one)) is not None]
        if not sides:
            raise not_portable("values are compared, and none of them is of a column")
        kinds = {one.kind for one in sides}
        if not (len(kinds) == 1 or kinds <= _NUMBERS) or not kinds <= _COMPARABLE:
            raise not_portable(f"values of the kind {', '.join(sorted(kinds))} are compared")
        if kinds <= _MOMENTS and len({_clock_digits(one) for one in sides}) > 1:
            # MariaDB rounds what it looks up in the index of the one with fewer.
            raise not_portable("moments with other digits of a second are compared")
        return sides[0]

    def _told(self, value: Value) -> LogicalType | None:
        if isinstance(value, Name):
            return self._kind(value)
        if isinstance(value, Arithmetic):
            self._size(value)
            return LogicalType(Kind.DECIMAL) if _read(value) else None
        return None

    def _kind(self, name: Name) -> LogicalType:
        found = self._kinds.get(name.column)
        if found is None:
            raise not_portable(f"{self._layout.name} has no column {name.column}")
        # Of a CHARACTER the blanks at the end count here, and there not.
        if found.kind is Kind.TEXT and found.native not in _VARYING:
            return LogicalType(Kind.OTHER, native=found.native)
        return found

    def _of(self, kind: LogicalType, value: Value) -> Value:
        """A value that is compared with one of a kind."""
        if kind.kind in _NUMBERS:
            self._size(value)
            return value
        return value if isinstance(value, Name) else self._literal(kind, value)

    def _assigned(self, column: str, value: Value) -> Value:
        """A value that a column gets."""
        kind = self._kind(Name(column))
        if isinstance(value, Null):
            if column in self._not_null:
                raise not_portable(f"{column} cannot be NULL")
            return value
        if kind.kind in _NUMBERS:
            size = self._size(value)
            limit = _Size(_DIGITS[kind.size or 64], 0) if kind.kind is Kind.INTEGER else self._bounded(column, kind)
            if size.scale > limit.scale:
                raise not_portable(f"a value of {column} would be rounded")
            return value
        if isinstance(value, Name):
            other = self._kind(value)
            if other.kind is not kind.kind or kind.kind not in _COMPARABLE or not kind.holds(other):
                raise not_portable(f"{column} gets values of {value.column}, and is of another type")
            return value
        return self._literal(kind, value)

    def _literal(self, kind: LogicalType, value: Value) -> Value:
        match kind.kind, value:
            case Kind.TEXT, Text(text) if kind.size is None or len(text) <= kind.size:
                return value
            case Kind.UUID, Text(text) if _UUID.fullmatch(text):
                return value
            case Kind.BOOLEAN, Truth():
                return value
            case Kind.DATE, Text(text) if _DATE.fullmatch(text):
                return Day(text)
            case ((Kind.TIMESTAMP | Kind.TIMESTAMP_WITH_ZONE), Text(text)) if found := _MOMENT.fullmatch(text):
                day, clock, behind, zone = found.groups()
                has_zone = kind.kind is Kind.TIMESTAMP_WITH_ZONE
                if (has_zone or not zone) and len(behind or "") <= _clock_digits(kind):
                    return Moment(f"{day} {clock or '00:00:00'}{(behind and f'.{behind}') or ''}", has_zone)
        raise not_portable(f"a literal is no {kind.kind} that every database reads alike")

    @staticmethod
    def _bounded(column: str, kind: LogicalType) -> _Size:
        if kind.size is None:
            raise not_portable(f"{column} is a number with any number of digits")
        return _Size(kind.size, kind.scale or 0)

    def _size(self, value: Value) -> _Size:
        """How large a number may be. Raises SluiceError SLC-577, it is none, or may be too large."""
        found = self._size_of(value)
        if found.digits > _MOST_DIGITS or found.scale > _MOST_SCALE:
            raise not_portable("a number may have more digits than every database has")
        return found

    def _size_of(self, value: Value) -> _Size:
        match value:
            case Number(digits):
                whole, _, behind = digits.removeprefix("-").partition(".")
                return _Size(len(whole) + len(behind), len(behind))
            case Name(column):
                kind = self._kind(value)
                if kind.kind is Kind.INTEGER:
                    return _Size(_DIGITS[kind.size or 64], 0)
                if kind.kind is Kind.DECIMAL:
                    return self._bounded(column, kind)
            case Arithmetic(sign, left, right):
                one, other = self._size(left), self._size(right)
                if sign == "*":
                    return _Size(one.digits + other.digits, one.scale + other.scale)
                scale = max(one.scale, other.scale)
                return _Size(max(one.digits - one.scale, other.digits - other.scale) + scale + 1, scale)
        raise not_portable("a number is expected where something else stands")
