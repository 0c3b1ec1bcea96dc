"""The snapshot that a dump reads: a place of the master's log, which nobody has to hold open.

No lock keeps others from altering a table meanwhile. Who reads sees that in the log, or is told by InnoDB, and the dump
is tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sluice.model.names import TableName
from sluice.model.position import Position, Snapshot
from sluice.vendors.mariadb.capture.binlog import state
from sluice.vendors.mariadb.capture.binlog.reader import LogPlace
from sluice.vendors.mariadb.capture.binlog.server import end_of_log
from sluice.vendors.mariadb.catalog.master_tables import described
from sluice.vendors.mariadb.errors import translated
from sluice.vendors.mariadb.read.key_order import cut_evenly, key_order
from sluice.vendors.mariadb.read.key_parts import numbered_by, written_as
from sluice.vendors.mariadb.read.session_snapshot import differs
from sluice.vendors.mariadb.session import composed, execute, qualified, quoted
from sluice.vendors.mariadb.source_session import SourceSession
from sluice.vendors.protocol.absent_features import Unheld
from sluice.vendors.protocol.plain_table import PlainTable
from sluice.vendors.protocol.read import Key, KeyRange, Leaf

# A smaller part of a table is not worth a range of its own.
_BYTES_A_PART = 1_000_000


class MariaSnapshot(Unheld):
    """See `sluice.vendors.protocol.load.DumpSnapshot`."""

    def __init__(
        self,
        session: SourceSession,
        stages: Sequence[Sequence[TableName]],
        at: Callable[[], tuple[Position, str | None]],
    ) -> None:
        self._session = session
        self._tables = [name for stage in stages for name in stage]
        self._at = at

    def __enter__(self) -> MariaSnapshot:
        with translated("taking the dump's snapshot"):
            # What is published by now is in front of where the log is read up to after that.
            self.position, other = self._at()
            self.id = other or str(end_of_log(self._session.open()))
            self.snapshot = Snapshot(self.id)
        return self

    def expect_complete(self) -> None:
        """What happens to a table that is made now is in the log behind this place, or is read."""

    def definitions(self) -> list[PlainTable]:
        """The tables."""
        with translated("reading the catalog"):
            found = [(name, described(self._session.open(), name)) for name in self._tables]
        if gone := [name for name, table in found if table is None]:
            raise differs(gone[0], "it is not there")
        return [PlainTable(table.layout()) for _, table in found if table]

    def leaves(self) -> list[Leaf]:
        """The tables, each cut at its keys if they are whole numbers. Another dump has another place, so none goes on
        with this one's.
        """
        with translated("reading the catalog"):
            return [self._leaf(name) for name in self._tables]

    def _leaf(self, name: TableName) -> Leaf:
        session = self._session.open()
        found, size = described(session, name), self._size(name)
        key = numbered_by(found) if found else None
        if not key:
            return Leaf(name, name, size, 1, self.id)
        ((first, last),) = execute(session, composed("read/ends", table=qualified(name), key=quoted(key)))
        if first is None:
            return Leaf(name, name, size, 1, self.id)
        return Leaf(name, name, size, int(last) - int(first) + 1, written_as(self.id, int(first)))

    def _size(self, name: TableName) -> int:
        rows = execute(self._session.open(), composed("catalog/kind"), {"schema": name.schema, "table": name.table})
        return int(rows[0][2]) if rows else 0

    def published(self) -> bool:
        """Whether the change log has everything that the snapshot shows."""
        with translated("looking at the binary log"):
            row = state.known(self._session.open(), state.parts_of(self._session.resources))
            return row.published.place >= LogPlace.parsed(self.id)

    def filled(self) -> set[TableName]:
        """The tables that have rows."""
        with translated("looking for rows"):
            session = self._session.open()
            return {name for name in self._tables if execute(session, f"SELECT 1 FROM {qualified(name)} LIMIT 1")}

    def order(self, table: TableName) -> str | None:
        """The order of a table's keys; None if it has no primary key that sorts its rows as it compares them."""
        with translated("planning the blocks"):
            found = key_order(self._session.open(), table)
        return found.sign if found else None

    def cuts(self, within: KeyRange, parts: int) -> list[Key]:
        """The keys at which a range is cut: at equal distances of the first column, if that has whole numbers."""
        name = within.table
        with translated("planning the blocks"):
            session = self._session.open()
            order, size = key_order(session, name), self._size(name)
            if order is None or not order.columns[0].is_integer or size < parts * _BYTES_A_PART:
                return []
            ends = composed("read/ends", table=qualified(name), key=quoted(order.names[0]))
            ((first, last),) = execute(session, ends)
        return [] if first is None else list(cut_evenly(int(first), int(last), parts))

    def expect_bounds(self, within: KeyRange) -> None:
        """Only whole tables can be asked for. Raises TransientError SLC-095."""
        if within.first or within.until:
            raise differs(within.table, "it cannot be loaded by ranges of keys")
