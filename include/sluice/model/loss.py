"""What a column of a slave would lose of the master's values, and by which cast it may."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

from sluice.model.names import TableName


@dataclass(frozen=True)
class Loss:
    """One column of a slave that does not hold every value of the master's.

    Attributes:
        table: as the master calls it.
        column: as the slave calls it.
        lost: what goes, in words.
        cast: the expression by the master's columns that makes what is left, once somebody allows it; None if there is
            none, and the table has to be altered.
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
    """All of them as CSV, with a line of titles."""
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(one.name for one in fields(Loss))
    lines.writerows([loss.table, *astuple(loss)[1:]] for loss in losses)
    return written.getvalue()


def page(losses: Sequence[Loss]) -> str:
    """All of them as a table in Markdown."""
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
