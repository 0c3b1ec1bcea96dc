"""Chunks on their way: out of the dump's snapshot, into every slave that still wants them, whatever kind it is of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from typing import ParamSpec, TypeVar

from sluice.connections import open_sealed
from sluice.errors import SluiceError
from sluice.initial_update.job import LoadJob, SlaveLoad, SlaveLoaded
from sluice.initial_update.plan import Chunk
from sluice.model.names import TableName
from sluice.vendors.dumping import Reading, Receiver
from sluice.vendors.registry import master, vendor

P = ParamSpec("P")
R = TypeVar("R")


def load_chunks(job: LoadJob) -> list[SlaveLoaded]:
    """Copy chunks until every slave has them all; several of these at once share them out among themselves.

    Whoever is free claims the next chunk on one slave and takes it to all that lack it, each in a commit of its own; a
    slave that gets other columns has it read once more. One slave's error does not stop the others.

    Raises:
        SluiceError: the source cannot be read; nothing of the chunk at hand is on any slave then.
    """
    connections = open_sealed(job.sealed)
    with ExitStack() as stack:
        slaves = [
            stack.enter_context(
                closing(_Slave(plan, vendor(plan.vendor).receive(connections[plan.connection], job, plan)))
            )
            for plan in job.slaves
        ]
        for slave in slaves:
            slave.attempt(slave.receiver.open)
        reading = stack.enter_context(master(job.vendor).read(connections[job.connection], job.snapshot_id))
        for lead in slaves:
            while (number := lead.attempt(lead.receiver.claim_next)) is not None:
                table = job.chunks[number].leaf.table
                alike = (other for other in slaves if other is not lead and other.gets(table) == lead.gets(table))
                others = (other for other in alike if other.attempt(other.receiver.claim, number))
                _copy(job, job.chunks[number], reading, [lead, *others])
        return [SlaveLoaded(one.plan.slave, one.rows, one.error) for one in slaves]


def _copy(job: LoadJob, chunk: Chunk, reading: Reading, slaves: Sequence[_Slave]) -> None:
    table = chunk.leaf.table
    for slave in slaves:
        slave.attempt(slave.receiver.begin, table, binary=job.binary[table])
    rows = reading.chunk(chunk, slaves[0].gets(table), binary=job.binary[table])
    for buffer in rows:
        for slave in slaves:
            slave.attempt(slave.receiver.write, buffer)
    for slave in slaves:
        slave.attempt(slave.receiver.end, chunk.number, rows.rows)
        slave.rows += 0 if slave.error else rows.rows


class _Slave:
    """One slave that is filled.

    Attributes:
        rows: how many are committed.
        error: why nothing more is done here, or empty.
    """

    def __init__(self, plan: SlaveLoad, receiver: Receiver) -> None:
        self.plan = plan
        self.rows = 0
        self.error = ""
        self.receiver = receiver

    def gets(self, table: TableName) -> list[str]:
        """The columns that are copied to it, as the master calls them."""
        return list(self.plan.views[table].copied)

    def attempt(self, step: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R | None:
        """Do the step unless an earlier one failed; keep the error, and end with what had not been committed."""
        if self.error:
            return None
        try:
            return step(*args, **kwargs)
        except SluiceError as error:
            self.error = str(error)
            self.close()
            return None

    def close(self) -> None:
        """End the work on this slave."""
        self.receiver.close()
