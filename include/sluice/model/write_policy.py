"""Write policies: how a slave applies changes of a table, where that differs from the default."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sluice.model.names import TableName
from sluice.model.row_conflict import ConflictAction, RejectedChange, RowConflict, Tolerated


@dataclass(frozen=True)
class WritePolicy:
    """The rules by which changes of one table are applied.

    Attributes:
        missing: the action if the row of an update or delete does not exist.
        duplicate: the action if the row of an insert exists already.
        before: SQL to execute before each change, by action (I, U, D).
        after: SQL to execute after each change, by action.
    """

    missing: ConflictAction = ConflictAction.WARN
    duplicate: ConflictAction = ConflictAction.WARN
    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)

    def action_for(self, conflict: RowConflict) -> ConflictAction:
        """The action for a conflict."""
        return self.missing if conflict is RowConflict.MISSING else self.duplicate

    @property
    def strict(self) -> bool:
        """Whether conflicts have to be found for each single change."""
        return not {self.missing, self.duplicate} <= {ConflictAction.WARN, ConflictAction.UPSERT}

    @property
    def by_row(self) -> bool:
        """Whether changes have to be applied row by row."""
        return self.strict or bool(self.before or self.after)


@dataclass(frozen=True)
class WritePolicies:
    """The write policies of a slave.

    Attributes:
        tables: policies that are not the default, by the slave's names.
        rejected: called with the changes that were not applied, before the transaction ends; called again if that is
            rolled back and repeated.
    """

    tables: Mapping[TableName, WritePolicy] = field(default_factory=dict)
    rejected: Callable[[Sequence[RejectedChange]], None] = lambda _: None

    def for_table(self, table: TableName) -> WritePolicy:
        """The policy of a table; the default if it has none."""
        return self.tables.get(table, WritePolicy())

    def counted_conflicts(self, conflicts: Tolerated) -> Tolerated:
        """The conflicts whose action is not UPSERT: those are counted and reported."""
        return Counter(
            {
                key: rows
                for key, rows in conflicts.items()
                if self.for_table(key[0]).action_for(key[1]) is not ConflictAction.UPSERT
            }
        )


DEFAULT_POLICIES = WritePolicies()
