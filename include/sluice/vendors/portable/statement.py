"""Portable statements: each names one table, and the statement alone says which rows it reads or changes, and how.

Nothing of it is left to a database: no function, no default, no order of rows, no order of texts. So each vendor can be
given it in its own words, made from here, and no text that a person wrote is executed there.
"""

from __future__ import annotations

from dataclasses import dataclass

from sluice.errors import SluiceError
from sluice.model.names import TableName


@dataclass(frozen=True)
class Name:
    """A column."""

    column: str


@dataclass(frozen=True)
class Text:
    """A text."""

    text: str


@dataclass(frozen=True)
class Number:
    """A number: digits, perhaps with a sign and a point."""

    digits: str


@dataclass(frozen=True)
class Truth:
    """TRUE or FALSE."""

    holds: bool


@dataclass(frozen=True)
class Day:
    """A date: `2024-02-29`."""

    text: str


@dataclass(frozen=True)
class Moment:
    """A time of a day: `2024-02-29 23:59:59.5`. With a zone it is that of UTC."""

    text: str
    has_zone: bool


@dataclass(frozen=True)
class Null:
    """NULL."""


@dataclass(frozen=True)
class Arithmetic:
    """A sum, a difference or a product."""

    sign: str
    left: Value
    right: Value


Value = Name | Text | Number | Truth | Day | Moment | Null | Arithmetic


@dataclass(frozen=True)
class Compared:
    """A comparison of two values, by one of = <> < <= > >=."""

    sign: str
    left: Value
    right: Value


@dataclass(frozen=True)
class IsNull:
    """Whether a column is NULL."""

    name: Name


@dataclass(frozen=True)
class Holds:
    """A column that is true or false by itself."""

    name: Name


@dataclass(frozen=True)
class Among:
    """Whether a value is one of several."""

    value: Value
    others: tuple[Value, ...]


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    one: Condition


@dataclass(frozen=True)
class Joined:
    """Two conditions by AND or OR."""

    word: str
    left: Condition
    right: Condition


Condition = Compared | IsNull | Holds | Among | Not | Joined


@dataclass(frozen=True)
class Shown:
    """A column of an answer.

    Attributes:
        function: COUNT, SUM, MIN or MAX; empty for the values of the column themselves.
        name: the column that it is about; None for COUNT(*).
        label: what it is called in the answer.
    """

    function: str
    name: Name | None
    label: str


@dataclass(frozen=True)
class Select:
    """A query."""

    table: TableName
    shown: tuple[Shown, ...]
    where: Condition | None = None


@dataclass(frozen=True)
class Insert:
    """New rows, with the values of all columns."""

    table: TableName
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True)
class Update:
    """New values in columns of rows. Each is computed from the row as it was."""

    table: TableName
    becomes: tuple[tuple[str, Value], ...]
    where: Condition | None = None


@dataclass(frozen=True)
class Delete:
    """Rows that go.

    Attributes:
        is_counted: its answer says how many. That of a TRUNCATE does not.
    """

    table: TableName
    where: Condition | None = None
    is_counted: bool = True


Portable = Select | Insert | Update | Delete


def not_portable(why: str) -> SluiceError:
    """A statement that may mean something else in another kind of database."""
    return SluiceError(
        577,
        f"the statement may mean something else on a node that is no PostgreSQL: {why}",
        "nothing was changed; see statements.md for those that such a node executes. To go on, write another one, or "
        "set `statements: false` for its replication and do the same there by hand",
    )
