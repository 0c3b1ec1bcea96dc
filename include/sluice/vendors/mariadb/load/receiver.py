"""The slave's side of a chunk: claimed, inserted in bulk, and committed with its claim."""

from __future__ import annotations

from contextlib import ExitStack

from sluice.connections import ConnectionInfo
from sluice.crash import CrashPoint, crash_if_asked
from sluice.model.names import Pair, TableName
from sluice.vendors.mariadb import fence
from sluice.vendors.mariadb.catalog.tables import SlaveTable
from sluice.vendors.mariadb.errors import translated
from sluice.vendors.mariadb.load.ahead import LoadAhead
from sluice.vendors.mariadb.session import Connection, composed, connect, execute, hold_lock, our_tables
from sluice.vendors.mariadb.write.writer import TableWriter
from sluice.vendors.protocol.read import RowFormat
from sluice.vendors.protocol.tasks import LoadJob, SlaveLoad


class MariaReceiver:
    """See `sluice.vendors.protocol.load.Receiver`: one session, and one transaction a chunk."""

    _session: Connection
    _loads: LoadAhead
    _table: SlaveTable

    def __init__(self, info: ConnectionInfo, job: LoadJob, plan: SlaveLoad) -> None:
        self._info = info
        self._plan = plan
        self._pair = Pair(job.source, plan.slave)
        self._parts = our_tables(plan.schema)
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
            hold_lock(self._session, self._pair)
            self._writer = TableWriter(self._session)
            self._loads = LoadAhead(self._session)
            self._opened.callback(self._loads.close)

    def close(self) -> None:
        """End the session; what was not committed is rolled back."""
        self._opened.close()

    def claim_next(self) -> int | None:
        """Begin a transaction that holds a chunk which the slave lacks; None if it lacks none."""
        chunk = self._claim(range(self._next, self._chunks), "SKIP LOCKED")
        if chunk is None:
            # What others hold is waited for in the end: what they give up is loaded all the same.
            return self._claim(range(self._chunks), "")
        self._next = chunk + 1
        return chunk

    def claim(self, chunk: int) -> bool:
        """Begin a transaction that holds this very chunk, if the slave lacks it."""
        return self._claim(range(chunk, chunk + 1), "") is not None

    def begin(self, table: TableName, form: RowFormat) -> None:
        """Look at the table, which nobody alters from here on."""
        with translated(f"loading {self._pair.slave}"):
            self._writer.look_up()
            self._table = self._writer.table(self._plan.views[table].layout)

    def write(self, buffer: bytes) -> None:
        """Rows as lines of COPY. The server takes them while the next ones are read."""
        with translated(f"loading {self._pair.slave}"):
            self._loads.begin(self._writer.inserting(self._table, buffer))

    def end(self, chunk: int, rows: int) -> None:
        """Commit the rows with the claim."""
        with translated(f"loading {self._pair.slave}"):
            self._loads.settle()
            execute(
                self._session, composed("load/loaded", **self._parts), {**self._names, "chunk": chunk, "copied": rows}
            )
            self._session.commit()
        crash_if_asked(CrashPoint.CHUNK_LOADED)

    def _end(self) -> None:
        if self._session.open:
            self._session.close()

    def _claim(self, among: range, held: str) -> int | None:
        with translated(f"claiming a chunk of {self._pair.slave}"):
            self._session.begin()
            # Loaders are fenced like drains (R6).
            fence.lock_fence(self._session, self._parts, self._pair, self._plan.epoch, shared=True)
            chunks = {**self._names, "low": among.start, "high": among.stop}
            rows = execute(self._session, composed("load/claim", **self._parts, held=held), chunks)
            if not rows:
                self._session.rollback()
                return None
        return int(rows[0][0])
