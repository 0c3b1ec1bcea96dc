"""Rows of some keys on a slave become those of the master (see `net_repair`), in a session of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import oracledb

from sluice.changelog.points import PointWait
from sluice.connections import ConnectionInfo
from sluice.model.layout import Layout
from sluice.vendors.net_repair import NetRepair
from sluice.vendors.oracle import fence
from sluice.vendors.oracle.catalog.slave_tables import SlaveTable
from sluice.vendors.oracle.errors import translated
from sluice.vendors.oracle.names import composed
from sluice.vendors.oracle.session import connect, execute, transaction, whole_values
from sluice.vendors.oracle.slave_columns import Form
from sluice.vendors.oracle.slave_refusals import expect_own
from sluice.vendors.oracle.write.writer import TableWriter


class OracleRepair(NetRepair[SlaveTable]):
    """See `NetRepair`; a table is not there (SLC-070) or unfit (SLC-073), or a column cannot hold a value (SLC-431)."""

    _session: oracledb.Connection

    def opened(self, info: ConnectionInfo, schema: str) -> TableWriter:
        """See `NetRepair`."""
        self._schema, self._parts = schema, fence.our_tables(schema)
        self._session = connect(info, f"repair {self.pair}")
        self._session.outputtypehandler = whole_values
        return TableWriter(self._session)

    def translated(self, doing: str) -> AbstractContextManager[None]:
        """See `NetRepair`."""
        return translated(doing)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """See `NetRepair`. No log delivers again what a crash would take."""
        with transaction(self._session):
            yield
            execute(self._session, composed("capture/queue/commit_durably"))

    def arrived(self, at: PointWait, *, held: bool) -> bool:
        """See `NetRepair`."""
        names = {"source": self.pair.source, "slave": self.pair.slave}
        rows = execute(self._session, composed("position/lock" if held else "position/where", **self._parts), names)
        # Read after the position: a slave that has moved on in between is not at that one any more, either.
        begun = bool(rows) and fence.has_begun(self._session, self._parts, self.pair)
        return at.has_arrived(int(rows[0][2 if held else 0]) if rows else 0, part_way=begun)

    def key_types(self, table: SlaveTable, layout: Layout) -> list[str]:
        """See `NetRepair`."""
        expect_own(self.pair, self._schema, layout.name)
        found = []
        for index in layout.key:
            one = table.columns[index]
            digits, scale = one.digits if one.form is Form.DECIMAL else (0, 0)
            found.append(f"numeric({digits},{scale})" if digits else one.column.type)
        return found

    def close(self) -> None:
        """See `NetRepair`."""
        if self._session.is_healthy():
            self._session.close()
