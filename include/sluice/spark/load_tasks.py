"""The chunks of a dump, and blocks of key ranges, copied by Spark tasks on whichever executor is free."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from sluice import shell
from sluice.errors import SluiceError
from sluice.initial_update.blocks.task import load_block
from sluice.initial_update.chunks.task import load_chunks
from sluice.spark.errors import as_text, from_text, raise_any
from sluice.spark.session import spark
from sluice.vendors.protocol.tasks import BlockJob, BlockLoaded, LoadJob, Share, SlaveLoaded

_RESULT = "slave string, rows long, failure string"
_SCHEMA = pa.schema([("slave", pa.string()), ("rows", pa.int64()), ("failure", pa.string())])
_BLOCK = pa.schema([("number", pa.int64()), ("rows", pa.int64()), ("failure", pa.string())])


def load(job: LoadJob) -> list[SlaveLoaded]:
    """Copy every chunk of the dump; returns what each task did for each slave.

    Raises:
        SluiceError: the source cannot be read.
    """
    # Starting a task costs a tenth of what copying a chunk costs, so a task goes on to the next chunk by itself.
    tasks, told = min(job.tasks, len(job.chunks)), shell.told()
    if not tasks:
        return []

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shell.tell(told)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                done: list[dict[str, object]]
                try:
                    loaded = load_chunks(job, Share(number, tasks))
                    done = [
                        {"slave": one.slave, "rows": one.rows, "failure": _failure_text(one.error)} for one in loaded
                    ]
                except SluiceError as error:
                    done = [{"failure": as_text(error)}]
                yield pa.RecordBatch.from_pylist(done, schema=_SCHEMA)

    rows = spark().range(0, tasks, 1, tasks).mapInArrow(task, _RESULT).collect()
    raise_any(row.failure for row in rows if row.slave is None)
    return [SlaveLoaded(row.slave, row.rows, _meant(row.failure)) for row in rows]


def load_blocks(job: BlockJob) -> list[BlockLoaded]:
    """Load the next block of each of the job's ranges; what became of each, in their order."""
    told = shell.told()

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shell.tell(told)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                done = load_block(job, number)
                row = {"number": number, "rows": done.rows, "failure": _failure_text(done.error)}
                yield pa.RecordBatch.from_pylist([row], schema=_BLOCK)

    count = len(job.ranges)
    rows = spark().range(0, count, 1, count).mapInArrow(task, "number long, rows long, failure string").collect()
    done = {row.number: BlockLoaded(row.rows, _meant(row.failure)) for row in rows}
    return [done[number] for number in range(count)]


def _failure_text(error: SluiceError | None) -> str | None:
    return as_text(error) if error else None


def _meant(text: str | None) -> SluiceError | None:
    return from_text(text) if text else None
