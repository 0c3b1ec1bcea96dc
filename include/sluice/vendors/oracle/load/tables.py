"""A slave's tables during an initial update: made if missing, emptied if not, and then filled chunk by chunk."""

from __future__ import annotations

from collections.abc import Mapping

import oracledb

from sluice.model.names import TableName
from sluice.vendors.fenced_tables import FencedTables
from sluice.vendors.oracle import fence
from sluice.vendors.oracle.catalog.slave_tables import SlaveTable, existing, making, table_of
from sluice.vendors.oracle.errors import translated
from sluice.vendors.oracle.names import composed, qualified
from sluice.vendors.oracle.session import Row, changed, connect, execute, transaction, whole_values


class OracleTables(FencedTables[oracledb.Connection, SlaveTable]):
    """See `sluice.vendors.protocol.load.SlaveTables`.

    Raises:
        SluiceError: SLC-517, a table cannot be made; SLC-518, one that is there does not take the rows; SLC-521, its
            rows are to stay.
    """

    translated = staticmethod(translated)
    transaction = staticmethod(transaction)
    existing = staticmethod(existing)
    table_of = staticmethod(table_of)

    @staticmethod
    def make(session: oracledb.Connection, table: SlaveTable) -> None:
        """See `FencedTables`."""
        execute(session, making(table))

    @staticmethod
    def empty(session: oracledb.Connection, table: TableName) -> None:
        """See `FencedTables`."""
        changed(session, composed("write/empty", table=qualified(table)))

    @staticmethod
    def is_open(session: oracledb.Connection) -> bool:
        """See `FencedTables`."""
        return session.is_healthy()

    def opened(self) -> oracledb.Connection:
        """See `FencedTables`."""
        session = connect(self.slave.info, f"load {self.slave.pair}")
        session.outputtypehandler = whole_values
        return session

    def lock(self, session: oracledb.Connection) -> None:
        """See `FencedTables`."""
        fence.lock_fence(session, self.slave.parts, self.slave.pair, self.epoch)

    def run(self, session: oracledb.Connection, name: str, values: Mapping[str, object]) -> list[Row]:
        """See `FencedTables`."""
        return execute(session, composed(f"load/{name}", **self.slave.parts), values)
