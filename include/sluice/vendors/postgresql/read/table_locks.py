"""The locks of a dump: against DDL, on each table until its rows are read (R5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from psycopg import sql

from sluice.model.names import TableName
from sluice.vendors.postgresql.catalog import definition
from sluice.vendors.postgresql.catalog.definition import identifier
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import Connection

# Tables that are locked by one message.
_AT_ONCE = 500


class TableLocks:
    """Tables that one session locks, the last that is read first, each behind a savepoint of its own. So rolling back
    to a savepoint unlocks a table with those that are read before it, and no other.

    It is not the session that exports the snapshot: no subtransaction may do that.

    Attributes:
        session: holds the locks; they end with it.
        order: the tables in the order in which they are to be read: stage by stage, the largest of a stage first.
    """

    def __init__(
        self, session: Connection, parts: Mapping[str, sql.Composable], stages: Sequence[Sequence[TableName]]
    ) -> None:
        self.session = session
        self.session.execute("SET lock_timeout = '10s'")
        self.order = self._ordered(parts, stages)
        self._unlocked = 0
        self.session.execute("BEGIN")
        locks = [_lock(index, self.order[index]) for index in reversed(range(len(self.order)))]
        for first in range(0, len(locks), _AT_ONCE):
            self.session.execute(sql.SQL("; ").join(locks[first : first + _AT_ONCE]))

    def keep(self, unread: Collection[TableName]) -> None:
        """Unlock the tables in front of the first of these.

        Raises:
            TransientError: SLC-030, the session was ended, and its locks with it.
        """
        unlocked = next((index for index, name in enumerate(self.order) if name in unread), len(self.order))
        if unlocked > self._unlocked:
            with translated("unlocking tables"):
                self.session.execute(sql.SQL("ROLLBACK TO SAVEPOINT {}").format(_savepoint(unlocked - 1)))
            self._unlocked = unlocked

    def _ordered(
        self, parts: Mapping[str, sql.Composable], stages: Sequence[Sequence[TableName]]
    ) -> Sequence[TableName]:
        sizes: Counter[TableName] = Counter()
        for leaf in definition.leaves(self.session, parts, [name for stage in stages for name in stage]):
            sizes[leaf.table] += leaf.bytes
        return [name for stage in stages for name in sorted(stage, key=lambda name: -sizes[name])]


def _lock(index: int, table: TableName) -> sql.Composed:
    lock = sql.SQL("SAVEPOINT {}; LOCK TABLE {} IN ACCESS SHARE MODE")
    return lock.format(_savepoint(index), identifier(table))


def _savepoint(index: int) -> sql.Identifier:
    return sql.Identifier(f"table_{index}")
