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
class Newest:
    """Decides on rows that both sides have, by values of one column.

    A side that lacks the row has no value of it: its row may have been deleted after the other side's was written, or
    never have come.

    Attributes:
        later: whether `new` has a larger value of the column than `old`.
    """

    column: str
    later: Condition

    def winners(self, conflicts: Sequence[Conflict]) -> Sequence[Winner]:
        """See `Rule.winners`."""
        ours, theirs = self._values([one.ours for one in conflicts]), self._values([one.theirs for one in conflicts])
        source = self.later.holds(ours, new=ours, old=theirs).to_pylist()
        slave = self.later.holds(ours, new=theirs, old=ours).to_pylist()
        return [
            Winner.SOURCE if one else Winner.SLAVE if other else Winner.UNDECIDED
            for one, other in zip(source, slave, strict=True)
        ]

    def _values(self, rows: Sequence[Row | None]) -> pa.ListArray:
        return pa.array([[row[self.column] if row else None] for row in rows], pa.list_(pa.string()))


def newest(table: TableName, columns: Sequence[Column], column: str) -> Newest:
    """The rule for a table.

    Args:
        columns: of the source's table that the slave gets.

    Raises:
        SluiceError: SLC-627, the table has no such column, or one of a type whose values are neither numbers nor times.
    """
    found = next((one for one in columns if one.name == column and not one.generated), None)
    if found is None:
        raise unusable(f"{table} has no column {column} that is copied to the slave")
    if logical_type(found.type).kind not in _ORDERED:
        raise unusable(f"{column} of {table} is of the type {found.type}, neither a number nor a date or a timestamp")
    name = '"' + column.replace('"', '""') + '"'
    return Newest(column, parse(f"new.{name} > old.{name}").condition([found]))


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
