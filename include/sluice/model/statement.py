"""A broadcast SQL statement, which every node executes, and the answers of the nodes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from sluice.model.layout import Layout

Row = tuple[str | None, ...]
# How a token begins. No number of a transaction does.
UNPLACED = "token "


@dataclass(frozen=True)
class Answer:
    """The answer of one node.

    Attributes:
        rows: the first rows of the result, as texts; empty if the statement returns none.
        more: the result had more rows than these.
        count: the number of rows that the statement changed; 0 if it only reads.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    more: bool = False
    count: int = 0

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Answer:
        """The answer that `asdict` gave, after a round trip through JSON."""
        rows = tuple(tuple(row) for row in body["rows"])
        return cls(**{**body, "columns": tuple(body["columns"]), "rows": rows})


@dataclass(frozen=True)
class Statement:
    """A statement in the stream, with the master's answer.

    Attributes:
        id: its number in the control store.
        schema: where names without a schema are looked up.
        reads: it only reads.
        max_rows: the number of rows of an answer that are kept.
        layout: how the master had the one table of a portable statement, as `with_table` writes it; empty if it is
            not known to be portable.
        token: tells it apart until the number of its transaction is known; empty if that is known before its commit.
    """

    id: int
    sql: str
    schema: str
    reads: bool
    max_rows: int
    answer: Answer = Answer()
    layout: str = ""
    token: str = ""

    def with_table(self, layout: Layout) -> Statement:
        """The same, as one that means the same in every database."""
        return replace(self, layout=json.dumps(layout.to_json()))

    @property
    def table(self) -> Layout | None:
        """The table as the master had it; None if it is not known to be portable. Raises ValueError if it is not."""
        try:
            return Layout.from_json(json.loads(self.layout)) if self.layout else None
        except (AttributeError, KeyError, TypeError, RecursionError, ValueError) as error:
            raise ValueError(f"no table: {type(error).__name__} {error}") from None

    def to_json(self) -> str:
        """The text that ITEMS keeps; `from_json` reads it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Statement:
        """The statement that `to_json` wrote. Raises ValueError for any other text."""
        try:
            body = json.loads(text)
            made = cls(**{**body, "answer": Answer.from_body(body["answer"])})
        except (AttributeError, KeyError, TypeError, RecursionError, ValueError) as error:
            raise ValueError(f"no statement: {type(error).__name__} {error}") from None
        if not all(isinstance(getattr(made, name), kind) for name, kind in _KINDS.items()):
            raise ValueError("no statement: its parts are of other types")
        return made


@dataclass(frozen=True)
class WantedStatement:
    """A statement that a person wants to be executed.

    Attributes:
        schema: where names without a schema are looked up, on every node.
        varying: execute it although it may do something else on another node.
        max_rows: the number of rows of each answer that are kept.
        hurried: the answers are wanted soon: a publisher is asked for at once. It passes nothing in the stream.
    """

    sql: str
    schema: str = "public"
    varying: bool = False
    max_rows: int = 10
    hurried: bool = False


@dataclass(frozen=True)
class NodeOutcome:
    """The outcome of a statement on a slave: whether its answer equals the master's, and if not, why."""

    good: bool
    detail: str = ""
    answer: Answer = Answer()


_KINDS = {"id": int, "sql": str, "schema": str, "reads": bool, "max_rows": int, "layout": str, "token": str}


@dataclass(frozen=True)
class IssuedStatement:
    """The record of an issued statement in the control store, by which it is recognised in the stream."""

    trans_key: str | None
    sql: str
    schema: str


class TransactionOutcome(StrEnum):
    """The outcome of the transaction of a statement on the master."""

    COMMITTED = "COMMITTED"
    ROLLED_BACK = "ROLLED BACK"
    RUNNING = "RUNNING"
    UNKNOWN = "UNKNOWN"
    """The master is another server now: it was restored, or a standby was promoted."""


@dataclass(frozen=True)
class TransactionRef:
    """The identification of the transaction of a statement.

    Attributes:
        id: the statement's number, which is in the name of its session on the master.
        trans_key: its xid; None until its commit was sent.
        incarnation: the incarnation of the source that executed it.
    """

    id: int
    trans_key: str | None = None
    incarnation: str | None = None


def compare(master: Answer, slave: Answer) -> NodeOutcome:
    """Compare a slave's answer with the master's. The order of rows does not count, except that it decides
    which rows of a long answer were kept.
    """
    if slave.count != master.count:
        return NodeOutcome(False, f"{slave.count} rows changed, {master.count} on the master", slave)
    if slave.columns != master.columns:
        return NodeOutcome(False, "other columns than on the master", slave)
    if slave.more != master.more or _sort(slave.rows) != _sort(master.rows):
        return NodeOutcome(False, "other rows than on the master", slave)
    return NodeOutcome(True, "only the first rows were compared" if slave.more else "", slave)


def missing_rows(rows: Sequence[Row], of: Sequence[Row]) -> tuple[Row, ...]:
    """The rows that are in one answer and not in another, each as often as it is missing there."""
    rest = Counter(of)
    rest.subtract(rows)
    return tuple(row for row, times in rest.items() for _ in range(times))


def _sort(rows: tuple[Row, ...]) -> list[Row]:
    return sorted(rows, key=lambda row: [(value is not None, value or "") for value in row])


# Called with the outcome of a statement on a slave.
Answered = Callable[[Statement, NodeOutcome], None]
