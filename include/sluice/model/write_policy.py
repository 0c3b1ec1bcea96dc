"""How a slave carries out changes of its tables, where that is not as everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sluice.model.names import TableName
from sluice.model.row_conflict import ConflictAction, RejectedChange, RowConflict, Tolerated


@dataclass(frozen=True)
class WritePolicy:
    """How changes of one table are carried out.

    Attributes:
        missing: what is done about a row that is to change or to go, and is not there.
        duplicate: what is done about a row that is there already.
        before: the statement that is executed before each change of an action.
        after: the same, after it.
    """

    missing: ConflictAction = ConflictAction.WARN
    duplicate: ConflictAction = ConflictAction.WARN
    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)

    def action_for(self, conflict: RowConflict) -> ConflictAction:
        """What is done about one of them."""
        return self.missing if conflict is RowConflict.MISSING else self.duplicate

    @property
    def strict(self) -> bool:
        """Whether each change has to be looked at by itself."""
        return not {self.missing, self.duplicate} <= {ConflictAction.WARN, ConflictAction.UPSERT}

    @property
    def by_row(self) -> bool:
        """Whether changes have to be carried out one by one."""
        return self.strict or bool(self.before or self.after)


@dataclass(frozen=True)
class WritePolicies:
    """How a slave carries out changes.

    Attributes:
        tables: of its tables, by its own names, those that are not written as by default.
        rejected: told what was not carried out, before the transaction ends; again if it is rolled back and repeated.
    """

    tables: Mapping[TableName, WritePolicy] = field(default_factory=dict)
    rejected: Callable[[Sequence[RejectedChange]], None] = lambda _: None

    def for_table(self, table: TableName) -> WritePolicy:
        """How changes of a table are carried out."""
        return self.tables.get(table, WritePolicy())

    def counted(self, found: Tolerated) -> Tolerated:
        """Those of them that are worth a warning."""
        return Counter(
            {
                key: rows
                for key, rows in found.items()
                if self.for_table(key[0]).action_for(key[1]) is not ConflictAction.UPSERT
            }
        )


DEFAULT_POLICIES = WritePolicies()
