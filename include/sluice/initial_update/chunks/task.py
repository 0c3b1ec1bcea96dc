"""The Spark task of a dump: copies chunks from the snapshot or its files to every target that lacks them: slaves of any
vendor, or files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from typing import ParamSpec, TypeVar

from sluice.apply.mapping.table_view import shape_lines
from sluice.apply.transform.transform import RowTransform
from sluice.connections import ConnectionInfo, find_salt, open_sealed
from sluice.errors import SluiceError
from sluice.initial_update.files.reader import open_files
from sluice.initial_update.files.receiver import FilesReceiver
from sluice.library_errors import name_table
from sluice.model.names import TableName
from sluice.vendors.protocol.load import Chunks, Receiver
from sluice.vendors.protocol.read import TEXT, Chunk
from sluice.vendors.protocol.tasks import WHOLE, FromFiles, LoadJob, Share, SlaveLoad, SlaveLoaded
from sluice.vendors.registry import master, vendor

P = ParamSpec("P")
R = TypeVar("R")


def load_chunks(job: LoadJob, share: Share = WHOLE) -> list[SlaveLoaded]:
    """Copy chunks until every slave has them all; several of these at once share them out among themselves.

    A free task claims the next chunk on one slave and takes it to all that lack it, each in a commit of its own; a
    slave that gets other columns or rows has it read once more. One slave's error does not stop the others.

    Raises:
        SluiceError: the source cannot be read; nothing of the chunk at hand is on any slave then.
    """
    connections = open_sealed(job.sealed)
    with ExitStack() as stack:
        slaves = [
            stack.enter_context(closing(_LoadedSlave(plan, _receiver(job, plan, connections, share), connections)))
            for plan in job.slaves
        ]
        for slave in slaves:
            slave.attempt(slave.receiver.open)
        reading = stack.enter_context(_open_reading(job, connections))
        for lead in slaves:
            while (number := lead.attempt(lead.receiver.claim_next)) is not None:
                table = job.chunks[number].leaf.table
                alike = (other for other in slaves if other is not lead and other.has_same_view(lead, table))
                others = (other for other in alike if other.attempt(other.receiver.claim, number))
                _copy(job, job.chunks[number], reading, [lead, *others])
        return [SlaveLoaded(slave.plan.slave, slave.rows, slave.error) for slave in slaves]


def _open_reading(job: LoadJob, connections: Mapping[str, ConnectionInfo]) -> AbstractContextManager[Chunks]:
    if isinstance(job.origin, FromFiles):
        return open_files(job.origin)
    origin = job.origin
    return master(origin.vendor).read(connections[origin.connection], origin.snapshot_id, origin.trusted)


def _receiver(job: LoadJob, plan: SlaveLoad, connections: Mapping[str, ConnectionInfo], share: Share) -> Receiver:
    if plan.files:
        return FilesReceiver(plan.files, share)
    return vendor(plan.vendor).receive(connections[plan.connection], job, plan)


def _copy(job: LoadJob, chunk: Chunk, reading: Chunks, slaves: Sequence[_LoadedSlave]) -> None:
    """Bring a chunk to slaves that see the same of it."""
    table = chunk.leaf.table
    table_view = slaves[0].plan.views[table]
    form = TEXT if table_view.is_shaped else chunk.stored or job.formats[table]
    for slave in slaves:
        slave.table = table
        slave.attempt(slave.receiver.begin, table, form)
    rows = reading.chunk(chunk, table_view.read_columns, form)
    written = 0
    for buffer in rows:
        if table_view.is_shaped:
            shaped = slaves[0].attempt(slaves[0].shape_rows, table, buffer)
            if shaped is None:
                # Its end is waited for: the session that reads it is needed again.
                continue
            buffer, count = shaped
            written += count
        for slave in slaves:
            slave.attempt(slave.receiver.write, buffer)
    written = written if table_view.is_shaped else rows.rows
    for slave in slaves:
        slave.attempt(slave.receiver.end, chunk.number, written)
        slave.rows += 0 if slave.error else written
        slave.table = None


class _LoadedSlave:
    """One slave that chunks are loaded into.

    Attributes:
        rows: how many are committed.
        table: the one whose rows are on their way.
        error: why nothing more is done here, or None.
    """

    def __init__(self, plan: SlaveLoad, receiver: Receiver, connections: Mapping[str, ConnectionInfo]) -> None:
        self.plan = plan
        self._connections = connections
        self._shapes: dict[TableName, RowTransform] = {}
        self.rows = 0
        self.table: TableName | None = None
        self.error: SluiceError | None = None
        self.receiver = receiver

    def has_same_view(self, other: _LoadedSlave, table: TableName) -> bool:
        """Whether another slave gets the same rows of a table, apart from the names of columns."""
        return table in self.plan.views and self.plan.views[table].reads_like(other.plan.views[table])

    def shape_rows(self, table: TableName, buffer: bytes) -> tuple[bytes, int]:
        """The slave's view of rows of the master as lines of COPY, and the number of rows."""
        view = self.plan.views[table]
        if table not in self._shapes:
            self._shapes[table] = view.shape(find_salt(self._connections, self.plan.salt))
        return shape_lines(view, self._shapes[table], buffer, view.written_columns)

    def attempt(self, step: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R | None:
        """Do the step unless an earlier one failed; keep the error, and end with what had not been committed."""
        if self.error:
            return None
        try:
            with name_table(self.table) if self.table else nullcontext():
                return step(*args, **kwargs)
        except SluiceError as error:
            self.error = error
            self.close()
            return None

    def close(self) -> None:
        """End the work on this slave."""
        self.receiver.close()
