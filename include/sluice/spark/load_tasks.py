"""The chunks of a dump, and blocks of key ranges, copied by Spark tasks on whichever executor is free."""

from __future__ import annotations

from collections.abc import Iterator

from sluice.errors import SluiceError
from sluice.initial_update.blocks.task import load_block
from sluice.initial_update.chunks.task import load_chunks
from sluice.spark.errors import as_text, from_text, raise_any
from sluice.spark.tasks import collect
from sluice.vendors.protocol.tasks import BlockJob, BlockLoaded, LoadJob, Share, SlaveLoaded


def load(job: LoadJob) -> list[SlaveLoaded]:
    """Copy every chunk of the dump; returns what each task did for each slave.

    Raises:
        SluiceError: the source cannot be read.
    """
    # Starting a task costs a tenth of what copying a chunk costs, so a task goes on to the next chunk by itself.
    tasks = min(job.tasks, len(job.chunks))
    if not tasks:
        return []

    def work(number: int) -> Iterator[dict[str, object]]:
        for part in load_chunks(job, Share(number, tasks)):
            yield {"slave": part.slave, "rows": part.rows, "failure": _failure_text(part.error)}

    rows = collect(tasks, work, {"slave": "string", "rows": "long"})
    raise_any(row.failure for row in rows if row.slave is None)
    return [SlaveLoaded(row.slave, row.rows, _as_error(row.failure)) for row in rows]


def load_blocks(job: BlockJob) -> list[BlockLoaded]:
    """Load the next block of each of the job's ranges; what became of each, in their order.

    Raises:
        SluiceError: a task could not begin.
    """

    def work(number: int) -> Iterator[dict[str, object]]:
        done = load_block(job, number)
        yield {"number": number, "rows": done.rows, "failure": _failure_text(done.error)}

    rows = collect(len(job.ranges), work, {"number": "long", "rows": "long"})
    raise_any(row.failure for row in rows if row.number is None)
    done = {row.number: BlockLoaded(row.rows, _as_error(row.failure)) for row in rows}
    return [done[number] for number in range(len(job.ranges))]


def _failure_text(error: SluiceError | None) -> str | None:
    return as_text(error) if error else None


def _as_error(text: str | None) -> SluiceError | None:
    return from_text(text) if text else None
