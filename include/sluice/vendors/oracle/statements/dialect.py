"""A portable statement in the words of Oracle.

A large object takes part in no comparison of SQL, and a literal has 4,000 bytes at most. A literal beside a VARCHAR2 is
compared without filling up blanks. The empty text would be NULL, so none is here (`expect_no_odd_text`).

Source: SQL Language Reference, "Literals", "Comparison Rules", "INSERT"; PL/SQL Packages and Types Reference,
"DBMS_LOB", "COMPARE Functions".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields, is_dataclass

from sluice.model.names import TableName
from sluice.vendors.oracle.names import literal, qualified, quoted
from sluice.vendors.portable.dialect import Dialect
from sluice.vendors.portable.statement import (
    Among,
    Compared,
    Condition,
    Day,
    Insert,
    Moment,
    Name,
    Portable,
    Shown,
    Text,
    Value,
    not_portable,
)

# Characters of a literal: one has four bytes at most.
_LONGEST = 1000
# Values of one list.
_MOST = 1000
# Days of which the calendar has none.
_LEFT_OUT = tuple(f"1582-10-{day:02}" for day in range(5, 15))


class OracleDialect(Dialect):
    """See there.

    Args:
        long: the columns of the table that are large objects.
    """

    def __init__(self, long: Collection[str]) -> None:
        self._long = long

    def quoted(self, name: str) -> str:
        """See `Dialect`."""
        return quoted(name)

    def qualified(self, name: TableName) -> str:
        """See `Dialect`."""
        return qualified(name)

    def text(self, text: str) -> str:
        """See `Dialect`."""
        if len(text) <= _LONGEST:
            return literal(text)
        pieces = (text[begin : begin + _LONGEST] for begin in range(0, len(text), _LONGEST))
        return f"({' || '.join(f'TO_CLOB({literal(one)})' for one in pieces)})"

    def truth(self, *, holds: bool) -> str:
        """See `Dialect`."""
        return "1" if holds else "0"

    def day(self, text: str) -> str:
        """See `Dialect`."""
        return f"DATE {literal(text)}"

    def moment(self, text: str, *, has_zone: bool) -> str:
        """See `Dialect`."""
        return f"TIMESTAMP {literal(f'{text} +00:00' if has_zone else text)}"

    def statements(self, one: Portable, name: TableName) -> Iterable[str]:
        """The statements that do it, in their order. Few servers take several rows in one INSERT."""
        if not isinstance(one, Insert):
            yield self.statement(one, name)
            return
        for row in one.rows:
            yield self.statement(Insert(one.table, one.columns, (row,)), name)

    def condition(self, one: Condition) -> str:
        """See `Dialect`."""
        match one:
            case Compared(sign, left, right) if self._is_long(left, right):
                return f"({self._told_apart(left, right)} {sign} 0)"
            case Among(value, others) if self._is_long(value, *others):
                return f"({' OR '.join(f'{self._told_apart(value, other)} = 0' for other in others)})"
            case Among(value, others) if len(others) > _MOST:
                pieces = (Among(value, others[begin : begin + _MOST]) for begin in range(0, len(others), _MOST))
                return f"({' OR '.join(map(self.condition, pieces))})"
        return super().condition(one)

    def _is_long(self, *values: Value) -> bool:
        return any(isinstance(one, Name) and one.column in self._long for one in values)

    def _told_apart(self, left: Value, right: Value) -> str:
        """0 if both are the same, and NULL if one is. The manual does not say what COMPARE gives for empty ones."""
        one, other = self._as_long(left), self._as_long(right)
        lengths = [f"DBMS_LOB.GETLENGTH({side})" for side in (one, other)]
        return (
            f"CASE WHEN {' <> '.join(lengths)} THEN 1 WHEN {lengths[0]} = 0 AND {lengths[1]} = 0 THEN 0 "
            f"ELSE DBMS_LOB.COMPARE({one}, {other}) END"
        )

    def _as_long(self, one: Value) -> str:
        written = self.value(one)
        return written if self._is_long(one) or written.startswith("(") else f"TO_CLOB({written})"


def expect_no_odd_text(statement: Portable) -> None:
    """See that no literal means something else here. Raises SluiceError SLC-577."""
    for one in _leaves(statement):
        if isinstance(one, Text) and not one.text:
            raise not_portable("'' is NULL in Oracle")
        if isinstance(one, Text | Day | Moment) and one.text.startswith(_LEFT_OUT):
            raise not_portable(f"the calendar of Oracle has no {one.text[:10]}")


def expect_kept(statement: Portable, character_set: str) -> None:
    """See that the server reads every letter of a literal. Raises SluiceError SLC-577."""
    beyond = any(isinstance(one, Text) and not one.text.isascii() for one in _leaves(statement))
    if beyond and character_set != "AL32UTF8":
        raise not_portable(f"the character set {character_set} of the master may lack letters of it")


def shown_value(one: Shown, alias: str) -> str:
    """A column of an answer, of the table with an alias."""
    inner = "*" if one.name is None else f"{alias}.{quoted(one.name.column)}"
    if one.function == "COUNT" and one.name is not None:
        # No aggregate function takes a large object. Source: SecureFiles and Large Objects Developer's Guide,
        # "LOB Rules and Restrictions".
        inner = f"CASE WHEN {inner} IS NOT NULL THEN 1 END"
    return f"{one.function}({inner})" if one.function else inner


def _leaves(part: object) -> Iterator[object]:
    """A statement and all of its parts."""
    yield part
    if is_dataclass(part):
        for one in fields(part):
            yield from _leaves(getattr(part, one.name))
    elif isinstance(part, tuple):
        for inner in part:
            yield from _leaves(inner)
