"""Losses: columns of a slave that cannot hold all values of the master's, and the casts that make values fit."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

from sluice.model.names import TableName


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


def report(losses: Sequence[Loss]) -> str:
    """The losses as CSV, with a header line."""
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(one.name for one in fields(Loss))
    lines.writerows([loss.table, *astuple(loss)[1:]] for loss in losses)
    return written.getvalue()


def page(losses: Sequence[Loss]) -> str:
    """The losses as a table in Markdown."""
    rows = (
        (str(one.table), one.column, one.master_type, one.slave_type, one.lost, one.cast or "none: alter the table")
        for one in losses
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
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
