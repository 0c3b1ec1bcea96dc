"""A slave's tables during an initial update: made if missing, emptied if not, and then filled chunk by chunk."""

from __future__ import annotations

from collections.abc import Mapping

from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.vendors.fenced_tables import FencedTables
from sluice.vendors.mariadb import fence
from sluice.vendors.mariadb.catalog.tables import SlaveTable, existing, make, table_of
from sluice.vendors.mariadb.errors import translated
from sluice.vendors.mariadb.session import (
    Connection,
    Row,
    changed,
    composed,
    connect,
    execute,
    hold_lock,
    qualified,
    transaction,
)


class MariaTables(FencedTables[Connection, SlaveTable]):
    """See `sluice.vendors.protocol.load.SlaveTables`.

    Raises:
        SluiceError: SLC-432, a table cannot be made; SLC-073, one that is there does not take the rows; SLC-438, its
            rows are to stay.
    """

    translated = staticmethod(translated)
    transaction = staticmethod(transaction)
    existing = staticmethod(existing)
    make = staticmethod(make)

    @staticmethod
    def table_of(session: Connection, layout: Layout) -> SlaveTable:
        """See `FencedTables`."""
        return table_of(layout, session.server)

    @staticmethod
    def empty(session: Connection, table: TableName) -> None:
        """See `FencedTables`."""
        changed(session, f"DELETE FROM {qualified(table)}")

    @staticmethod
    def is_open(session: Connection) -> bool:
        """See `FencedTables`."""
        return bool(session.open)

    def opened(self) -> Connection:
        """See `FencedTables`."""
        session = connect(self.slave.info, f"load {self.slave.pair}")
        hold_lock(session, self.slave.pair)
        return session

    def lock(self, session: Connection) -> None:
        """See `FencedTables`."""
        fence.lock_fence(session, self.slave.parts, self.slave.pair, self.epoch)

    def run(self, session: Connection, name: str, values: Mapping[str, object]) -> list[Row]:
        """See `FencedTables`."""
        return execute(session, composed(f"load/{name}", **self.slave.parts), values)
