"""The rule `newest`: of two rows the one with the larger value of a column wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from sluice.errors import SluiceError
from sluice.expressions import Condition, parse
from sluice.model.layout import Column
from sluice.model.logical_type import Kind, logical_type
from sluice.model.names import TableName
from sluice.repair.rules import Conflict, Row, Winner

# A text may hold a number or a time, whose order is another one.
_ORDERED = {Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_WITH_ZONE}


@dataclass(frozen=True)
class NewestRule:
    """Decides on rows that both sides have, by values of one column.

    A side that lacks the row has no value of it: its row may have been deleted after the other side's was written, or
    never have come.

    Attributes:
        later: whether `new` has a larger value of the column than `old`.
    """

    column: str
    later: Condition

    def winners(self, conflicts: Sequence[Conflict]) -> Sequence[Winner]:
        """The winner of each."""
        ours = self._values([conflict.ours for conflict in conflicts])
        theirs = self._values([conflict.theirs for conflict in conflicts])
        source = self.later.holds(ours, new=ours, old=theirs).to_pylist()
        slave = self.later.holds(ours, new=theirs, old=ours).to_pylist()
        return [
            Winner.SOURCE if ours_wins else Winner.SLAVE if theirs_wins else Winner.UNDECIDED
            for ours_wins, theirs_wins in zip(source, slave, strict=True)
        ]

    def _values(self, rows: Sequence[Row | None]) -> pa.ListArray:
        return pa.array([[row[self.column] if row else None] for row in rows], pa.list_(pa.string()))


def newest_rule(table: TableName, columns: Sequence[Column], column: str) -> NewestRule:
    """The rule for a table.

    Args:
        columns: of the source's table that the slave gets.

    Raises:
        SluiceError: SLC-627, the table has no such column, or one of a type whose values are neither numbers nor times.
    """
    match = next((candidate for candidate in columns if candidate.name == column and not candidate.generated), None)
    if match is None:
        raise unusable(f"{table} has no column {column} that is copied to the slave")
    if logical_type(match.type).kind not in _ORDERED:
        raise unusable(f"{column} of {table} is of the type {match.type}, neither a number nor a date or a timestamp")
    name = '"' + column.replace('"', '""') + '"'
    return NewestRule(column, parse(f"new.{name} > old.{name}").condition([match]))


def unusable(why: str) -> SluiceError:
    """A column cannot be compared, or none is named."""
    return unfit_column(
        f"the rule `newest` cannot be used: {why}",
        "nothing was changed in it; name a column that each change of a row makes larger, such as the time of it "
        "(`--column`, or `column` of the DAG), or tables that have it",
    )


def unfit_column(fact: str, hint: str) -> SluiceError:
    """A column and a rule do not go together."""
    return SluiceError(627, fact, hint)
