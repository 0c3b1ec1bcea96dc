"""The slave's side of a chunk: claimed, inserted in bulk, and committed with its claim."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack

import oracledb

from sluice.connections import ConnectionInfo
from sluice.crash import CrashPoint, crash_if_asked
from sluice.model.names import Pair, TableName
from sluice.values.copy_text import columns_of
from sluice.vendors.oracle import fence
from sluice.vendors.oracle.catalog.slave_tables import SlaveTable
from sluice.vendors.oracle.errors import translated
from sluice.vendors.oracle.names import composed
from sluice.vendors.oracle.session import connect, execute
from sluice.vendors.oracle.write.writer import TableWriter
from sluice.vendors.protocol.read import RowFormat
from sluice.vendors.protocol.tasks import LoadJob, SlaveLoad

# What becomes of a chunk that another session holds.
_NOBODYS, _WAITED_FOR = "SKIP LOCKED", "WAIT 600"


class OracleReceiver:
    """See `sluice.vendors.protocol.load.Receiver`: one session, and one transaction a chunk."""

    _session: oracledb.Connection
    _table: SlaveTable

    def __init__(self, info: ConnectionInfo, job: LoadJob, plan: SlaveLoad) -> None:
        self._info = info
        self._plan = plan
        self._pair = Pair(job.source, plan.slave)
        self._parts = fence.our_tables(plan.schema)
        self._names: dict[str, object] = {"source": job.source, "slave": plan.slave, "load_id": plan.epoch}
        self._chunks = len(job.chunks)
        self._next = 0
        # Empty if the server cannot be reached.
        self._opened = ExitStack()

    def open(self) -> None:
        """Begin the session."""
        with translated(f"loading {self._pair.slave}"):
            self._session = connect(self._info, f"load {self._pair}")
            self._opened.callback(self._end)
            self._writer = TableWriter(self._session)

    def close(self) -> None:
        """End the session; what was not committed is rolled back."""
        self._opened.close()

    def _end(self) -> None:
        if self._session.is_healthy():
            self._session.close()

    def claim_next(self) -> int | None:
        """Begin a transaction that holds a chunk which the slave lacks; None if it lacks none."""
        chunk = self._claim(self._lacking(self._next), _NOBODYS)
        if chunk is None:
            # What others hold is waited for in the end: what they give up is loaded all the same.
            return self._claim(self._lacking(0), _WAITED_FOR)
        self._next = chunk + 1
        return chunk

    def claim(self, chunk: int) -> bool:
        """Begin a transaction that holds this very chunk, if the slave lacks it."""
        return self._claim([chunk], _WAITED_FOR) is not None

    def begin(self, table: TableName, form: RowFormat) -> None:
        """Look at the table, which nobody alters from here on."""
        with translated(f"loading {self._pair.slave}"):
            self._writer.look_up()
            self._table = self._writer.table(self._plan.views[table].layout)

    def write(self, buffer: bytes) -> None:
        """Rows as lines of COPY."""
        columns = columns_of(buffer, len(self._table.columns))
        with translated(f"loading {self._pair.slave}"):
            self._writer.insert(self._table, columns)

    def end(self, chunk: int, rows: int) -> None:
        """Commit the rows with the claim."""
        with translated(f"loading {self._pair.slave}"):
            values = {**self._names, "chunk": chunk, "copied": rows}
            execute(self._session, composed("load/loaded", **self._parts), values)
            self._session.commit()
        crash_if_asked(CrashPoint.CHUNK_LOADED)

    def _lacking(self, low: int) -> list[int]:
        """The chunks from a number on that are not in, in order."""
        with translated(f"claiming a chunk of {self._pair.slave}"):
            values = {**self._names, "low": low, "high": self._chunks}
            return [int(row[0]) for row in execute(self._session, composed("load/lacking", **self._parts), values)]

    def _claim(self, among: Iterable[int], held: str) -> int | None:
        with translated(f"claiming a chunk of {self._pair.slave}"):
            # An order, a first row and a lock do not go together in one query here.
            statement = composed("load/claim", **self._parts, held=held)
            for chunk in among:
                if execute(self._session, statement, {**self._names, "chunk": chunk}):
                    # Loaders are fenced like drains (R6); the chunk is held by now.
                    fence.expect_epoch(self._session, self._parts, self._pair, self._plan.epoch)
                    return chunk
            self._session.rollback()
            return None
