"""A slave's tables during an initial update: made if missing, emptied if not, and then filled chunk by chunk."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

import oracledb

from sluice.config.models import WipeOut
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.vendors.fenced_tables import FencedTables, Filled
from sluice.vendors.oracle import fence
from sluice.vendors.oracle.catalog.slave_tables import SlaveTable, existing, making, table_of
from sluice.vendors.oracle.errors import translated
from sluice.vendors.oracle.load.wipe_schema import wipe_out, wiped
from sluice.vendors.oracle.names import composed, qualified
from sluice.vendors.oracle.session import Row, changed, connect, execute, transaction, whole_values
from sluice.vendors.protocol.load import TableDefinition


class OwnSchema(Filled, Protocol):
    """A slave in the schema of its user."""

    schema: str


class OracleTables(FencedTables[oracledb.Connection, SlaveTable]):
    """See `sluice.vendors.protocol.load.SlaveTables`.

    Raises:
        SluiceError: SLC-432, a table cannot be made; SLC-073, one that is there does not take the rows; SLC-438, its
            rows are to stay.
    """

    def __init__(self, slave: OwnSchema, epoch: int, earlier: int | None = None, wiped: WipeOut | None = None) -> None:
        super().__init__(slave, epoch, earlier)
        self._schema = slave.schema
        self._wiped = wiped

    translated = staticmethod(translated)
    transaction = staticmethod(transaction)
    existing = staticmethod(existing)

    @staticmethod
    def table_of(session: oracledb.Connection, layout: Layout) -> SlaveTable:
        """See `FencedTables`."""
        return table_of(layout)

    def prepare(
        self,
        tables: Sequence[TableDefinition],
        staying: Collection[TableName] = (),
        in_parts: Collection[TableName] = (),
    ) -> None:
        """See `FencedTables`. Before that the schema is wiped out, if that is wanted; an update that goes on does not.

        Raises:
            SluiceError: SLC-214, SLC-215, it cannot be; or what `FencedTables` raises.
        """
        if self._wiped and not (self.goes_on or staying):
            with translated("wiping out the schema"):
                session = self._fenced()

                @contextmanager
                def held() -> Iterator[None]:
                    with transaction(session):
                        self.lock(session)
                        yield

                wipe_out(session, wiped(session, self._wiped, self._schema), held)
        super().prepare(tables, staying, in_parts)

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
