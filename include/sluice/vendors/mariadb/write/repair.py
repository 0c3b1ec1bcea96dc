"""Rows of some keys on a slave become those of the master (see `net_repair`), in a session of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from sluice.changelog.points import PointWait
from sluice.connections import ConnectionInfo
from sluice.model.layout import Layout
from sluice.vendors.mariadb import fence
from sluice.vendors.mariadb.catalog.tables import SlaveTable
from sluice.vendors.mariadb.errors import translated
from sluice.vendors.mariadb.session import Connection, connect, expect_pinned, hold_lock, our_tables, transaction
from sluice.vendors.mariadb.write.writer import TableWriter
from sluice.vendors.net_repair import NetRepair


class MariaRepair(NetRepair[SlaveTable]):
    """See `NetRepair`; a table is not there (SLC-070) or unfit (SLC-073), or a column cannot hold a value (SLC-431).

    Not every commit is on the disk (SLC-400), or the server is read_only (SLC-038).
    """

    _session: Connection

    def opened(self, info: ConnectionInfo, schema: str) -> TableWriter:
        """See `NetRepair`. A drain that takes over finds the session, and ends it if it hangs."""
        self._parts = our_tables(schema)
        self._session = connect(info, f"repair {self.pair}")
        hold_lock(self._session, self.pair)
        return TableWriter(self._session)

    def translated(self, doing: str) -> AbstractContextManager[None]:
        """See `NetRepair`."""
        return translated(doing)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """See `NetRepair`."""
        with transaction(self._session):
            yield
            fence.expect_durable(self._session, self.pair)

    def arrived(self, at: PointWait, *, held: bool) -> bool:
        """See `NetRepair`."""
        if held:
            expect_pinned(self._session)
        look = "position/lock" if held else "position/where"
        return fence.arrived(self._session, self._parts, self.pair, at, look)

    def key_types(self, table: SlaveTable, layout: Layout) -> list[str]:
        """See `NetRepair`. A column of a key has the one type that holds the values of its type exactly."""
        return [table.columns[index].column.type for index in layout.key]

    def close(self) -> None:
        """See `NetRepair`."""
        if self._session.open:
            self._session.close()
