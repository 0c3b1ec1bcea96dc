"""A slave's tables during an initial update: made if missing, emptied if not, and then filled chunk by chunk."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import oracledb

from sluice.apply.mapping.table_view import view
from sluice.config.mapper import Mapper
from sluice.connections import ConnectionInfo
from sluice.model.names import Pair, TableName
from sluice.model.position import Position, Snapshot
from sluice.model.sequence import SequenceValue
from sluice.vendors.oracle import fence
from sluice.vendors.oracle.catalog.slave_tables import existing, making, table_of
from sluice.vendors.oracle.errors import translated
from sluice.vendors.oracle.names import composed, qualified
from sluice.vendors.oracle.session import changed, connect, execute, transaction, whole_values
from sluice.vendors.protocol.load import Expected, TableDefinition
from sluice.vendors.protocol.read import TakenFormats


class FilledOracle(Protocol):
    """The slave whose tables are filled: as much of `OracleSlave` as that takes."""

    info: ConnectionInfo
    pair: Pair
    mapper: Mapper
    parts: dict[str, str]

    def expect_replaced(self, table: TableName) -> None:
        """See that a table may be emptied."""

    def take_over(self, epoch: int) -> object:
        """Raise the fence."""

    def begin_update(self, position: Position, snapshot: Snapshot) -> None:
        """Let the stream go on at a position, without what the snapshot shows."""

    def close(self) -> None:
        """End the session."""


class OracleTables:
    """See `sluice.vendors.protocol.load.SlaveTables`. Only what a load of the very same rows has brought may stay."""

    def __init__(self, slave: FilledOracle, epoch: int, earlier: int | None = None) -> None:
        self._slave = slave
        self._epoch = epoch
        self._earlier = earlier
        self._goes_on = False
        self._session: oracledb.Connection | None = None
        self.mapper = slave.mapper
        self.formats = TakenFormats()
        self.upserted: set[TableName] = set()

    def begin(self) -> Sequence[Expected]:
        """Fence out earlier jobs. Chunks of the same load under an earlier epoch stay."""
        self._slave.take_over(self._epoch)
        if self._earlier is not None:
            with translated("looking at the load"), transaction(session := self._fenced()):
                self._lock(session)
                carried = {**self._values(), "earlier": self._earlier}
                execute(session, composed("load/carry_over", **self._slave.parts), carried)
            self._goes_on = any(self.progress().values())
        return ()

    def merging(self, tables: Sequence[TableDefinition], *, made: bool = False) -> set[TableName]:
        """None of them."""
        return set()

    def expect(self, chunks: Sequence[Expected]) -> None:
        """Write down the chunks, for tasks to claim; those of a load that goes on are. Earlier ones are forgotten."""
        if self._goes_on:
            return
        with translated("planning the load"), transaction(session := self._fenced()):
            self._lock(session)
            execute(session, composed("load/forget", **self._slave.parts), self._names())
            for number, one in enumerate(chunks):
                values = {**self._values(), "chunk": number, "copied": one.rows}
                execute(session, composed("load/expect", **self._slave.parts), values)

    def prepare(
        self,
        tables: Sequence[TableDefinition],
        staying: Collection[TableName] = (),
        in_parts: Collection[TableName] = (),
    ) -> None:
        """Make what is missing, and empty what is there. All of it may happen again.

        Raises:
            SluiceError: SLC-517, a table cannot be made; SLC-518, one that is there does not take the rows;
                SLC-521, its rows are to stay.
        """
        with translated("preparing the slave's tables"):
            session = self._fenced()
            found = []
            for table in tables:
                self._slave.expect_replaced(table.name)
                layout = view(self.mapper, table.layout).layout
                found.append((layout.name, existing(session, layout), table_of(layout)))
            kept = {self.mapper.table(name) for name in staying}
            if self._goes_on and any(there is None for _, there, _ in found):
                # Somebody dropped a table whose chunks are in: all come again.
                with transaction(session):
                    self._lock(session)
                    execute(session, composed("load/begin_again", **self._slave.parts), self._values())
                self._goes_on = False
            for name, there, made in found:
                if there is not None and (self._goes_on or name in kept):
                    continue
                if there is None:
                    self._expect_fence(session)
                    execute(session, making(made))
                    continue
                with transaction(session):
                    # TRUNCATE would commit before we know that nobody took over.
                    self._lock(session)
                    changed(session, composed("write/empty", table=qualified(name)))

    def finish(self, tables: Sequence[TableDefinition], tasks: int, lacking: Collection[TableName] = ()) -> None:
        """There is nothing to be built after the rows."""

    def imported(self, tables: Sequence[TableDefinition]) -> set[TableName]:
        """No program imports here."""
        return set()

    def follow(self, sequences: Sequence[SequenceValue]) -> None:
        """Tables here have no sequences."""

    def begin_stream(self, position: Position, snapshot: Snapshot) -> None:
        """The data is complete: from here on the stream, without what the snapshot saw."""
        self._slave.begin_update(position, snapshot)
        with translated("ending the load"), transaction(session := self._fenced()):
            execute(session, composed("load/forget", **self._slave.parts), self._names())

    def progress(self) -> dict[int, int]:
        """The chunks that are in, and how many rows each has."""
        looked = composed("load/progress", **self._slave.parts)
        with translated("looking at the load"):
            return {int(chunk): int(rows) for chunk, rows in execute(self._fenced(), looked, self._values())}

    def close(self) -> None:
        """End the sessions."""
        if self._session is not None and self._session.is_healthy():
            self._session.close()
        self._slave.close()

    def _fenced(self) -> oracledb.Connection:
        """The session; whether nobody took over is looked at in its transactions."""
        if self._session is None or not self._session.is_healthy():
            self._session = connect(self._slave.info, f"load {self._slave.pair}")
            self._session.outputtypehandler = whole_values
        return self._session

    def _expect_fence(self, session: oracledb.Connection) -> None:
        with transaction(session):
            self._lock(session)

    def _lock(self, session: oracledb.Connection) -> None:
        fence.lock_fence(session, self._slave.parts, self._slave.pair, self._epoch)

    def _names(self) -> dict[str, object]:
        # A value without a place in its statement is an error here.
        return {"source": self._slave.pair.source, "slave": self._slave.pair.slave}

    def _values(self) -> dict[str, object]:
        return {**self._names(), "load_id": self._epoch}
