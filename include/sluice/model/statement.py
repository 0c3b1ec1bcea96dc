"""An SQL statement that is executed on every node, and what each of them answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

Row = tuple[str | None, ...]


@dataclass(frozen=True)
class Answer:
    """What one node said.

    Attributes:
        rows: the first of them, as texts; none if the statement gives none.
        more: there were more rows than these.
        count: how many rows the statement changed; 0 if it only reads.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    more: bool = False
    count: int = 0

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Answer:
        """What `asdict` gave, by way of JSON."""
        rows = tuple(tuple(row) for row in body["rows"])
        return cls(**{**body, "columns": tuple(body["columns"]), "rows": rows})


@dataclass(frozen=True)
class Statement:
    """A statement as it travels in the stream, with the master's answer.

    Attributes:
        id: its number in the control store.
        schema: where names without a schema are looked up.
        reads: it changes nothing, anywhere.
        max_rows: so many rows of an answer are kept.
    """

    id: int
    sql: str
    schema: str
    reads: bool
    max_rows: int
    answer: Answer = Answer()

    def to_json(self) -> str:
        """As ITEMS carries it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Statement:
        """What `to_json` gave. Raises ValueError if it is none."""
        try:
            body = json.loads(text)
            made = cls(**{**body, "answer": Answer.from_body(body["answer"])})
        except (AttributeError, KeyError, TypeError, RecursionError, ValueError) as error:
            raise ValueError(f"no statement: {type(error).__name__} {error}") from None
        if not all(isinstance(getattr(made, name), kind) for name, kind in _KINDS.items()):
            raise ValueError("no statement: its parts are of other types")
        return made


@dataclass(frozen=True)
class NodeOutcome:
    """What became of a statement on a slave: whether it did what it did on the master, and if not, why."""

    good: bool
    detail: str = ""
    answer: Answer = Answer()


_KINDS = {"id": int, "sql": str, "schema": str, "reads": bool, "max_rows": int}


@dataclass(frozen=True)
class IssuedStatement:
    """What is kept of a statement apart from the stream, to know it again there."""

    trans_key: str | None
    sql: str
    schema: str


class TransactionOutcome(StrEnum):
    """What became of the transaction of a statement on the master."""

    COMMITTED = "COMMITTED"
    ROLLED_BACK = "ROLLED BACK"
    RUNNING = "RUNNING"
    UNKNOWN = "UNKNOWN"
    """The master is another than it was: it was restored, or a standby took its place."""


@dataclass(frozen=True)
class TransactionRef:
    """By what the transaction of a statement is found again.

    Attributes:
        id: the statement's number; its session on the master bears it.
        trans_key: none as long as nobody has asked for its commit.
        incarnation: the source that executed it.
    """

    id: int
    trans_key: str | None = None
    incarnation: str | None = None


def compared(master: Answer, slave: Answer) -> NodeOutcome:
    """A slave's answer beside the master's. The order of rows is nobody's promise, unless both were cut short."""
    if slave.count != master.count:
        return NodeOutcome(False, f"{slave.count} rows changed, {master.count} on the master", slave)
    if slave.columns != master.columns:
        return NodeOutcome(False, "other columns than on the master", slave)
    if slave.more != master.more or _sorted(slave.rows) != _sorted(master.rows):
        return NodeOutcome(False, "other rows than on the master", slave)
    return NodeOutcome(True, "only the first rows were compared" if slave.more else "", slave)


def _sorted(rows: tuple[Row, ...]) -> list[Row]:
    return sorted(rows, key=lambda row: [(value is not None, value or "") for value in row])


# Told what became of a statement.
Answered = Callable[[Statement, NodeOutcome], None]
