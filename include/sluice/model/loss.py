"""Losses: columns of a slave that cannot hold all values of the master's, and the casts that make values fit."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace

from sluice.model.layout import Column
from sluice.model.names import TableName
from sluice.outside_text import in_csv, in_markdown

_NAME = re.compile(r'"(?:[^"]|"")+"')


@dataclass(frozen=True)
class Loss:
    """One column of a slave whose type does not hold all values of the master's type.

    Attributes:
        table: the master's name of the table.
        column: the slave's name of the column.
        lost: the values that are lost, in words.
        cast: an expression over the master's columns whose values fit, for use once the loss is allowed; None if there
            is none, so that the table has to be altered.
    """

    table: TableName
    column: str
    master_type: str
    slave_type: str
    lost: str
    cast: str | None

    def __str__(self) -> str:
        return f"{self.table}.{self.column} ({self.master_type} -> {self.slave_type}: it would lose {self.lost})"


def plain_cast(column: str) -> str:
    """The cast that takes the value of a master's column as it comes."""
    return '"{}"'.format(column.replace('"', '""'))


def is_plain_cast(cast: str) -> bool:
    """Whether this is such a cast."""
    return _NAME.fullmatch(cast) is not None


def with_dropped(table: TableName, columns: Sequence[tuple[str, Column]], losses: Sequence[Loss]) -> Iterator[Loss]:
    """The losses of a table's columns, with what the log does not have of their values.

    Args:
        columns: what a slave gets as it is: the master's names, and the columns as the slave calls them.
        losses: of the slave's own columns.
    """
    rest = {loss.column: loss for loss in losses}
    for name, column in columns:
        own = rest.pop(column.name, None)
        if not column.dropped:
            yield from [own] if own else []
        elif own:
            yield replace(own, lost=f"{own.lost} and {column.dropped}")
        else:
            yield Loss(table, column.name, column.type, column.type, column.dropped, plain_cast(name))
    yield from rest.values()


def report(losses: Sequence[Loss]) -> str:
    """The losses as CSV, with a header line."""
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(column.name for column in fields(Loss))
    lines.writerows([in_csv(str(cell or "")) for cell in (loss.table, *astuple(loss)[1:])] for loss in losses)
    return written.getvalue()


def page(losses: Sequence[Loss]) -> str:
    """The losses as a table in Markdown."""
    rows = (
        [*map(in_markdown, (str(loss.table), loss.column, loss.master_type, loss.slave_type, loss.lost)), _cast(loss)]
        for loss in losses
    )
    titles = (
        "table",
        "column",
        "on the master",
        "on the slave",
        "what would be lost",
        "what the slave gets if allowed",
    )
    lines = [titles, ("---",) * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cast(loss: Loss) -> str:
    return in_markdown(loss.cast) if loss.cast else "none: alter the table"
