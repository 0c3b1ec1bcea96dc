"""The chunks of a dump, copied by Spark tasks that share them out, on whichever executor is free."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from sluice.errors import SluiceError
from sluice.initial_update.filling import load_chunks
from sluice.initial_update.job import LoadJob, Share, SlaveLoaded
from sluice.spark.failures import as_text, raise_any
from sluice.spark.session import spark

_RESULT = "slave string, rows long, error string, failure string"
_SCHEMA = pa.schema([("slave", pa.string()), ("rows", pa.int64()), ("error", pa.string()), ("failure", pa.string())])


def load(job: LoadJob) -> list[SlaveLoaded]:
    """Copy every chunk of the dump; returns what each task did for each slave.

    Raises:
        SluiceError: the source cannot be read.
    """
    # Starting a task costs a tenth of what copying a chunk costs, so a task goes on to the next chunk by itself.
    tasks = min(job.tasks, len(job.chunks))
    if not tasks:
        return []

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                try:
                    done: list[dict[str, object]] = [vars(one) for one in load_chunks(job, Share(number, tasks))]
                except SluiceError as error:
                    done = [{"failure": as_text(error)}]
                yield pa.RecordBatch.from_pylist(done, schema=_SCHEMA)

    rows = spark().range(0, tasks, 1, tasks).mapInArrow(task, _RESULT).collect()
    raise_any(row.failure for row in rows if row.failure)
    return [SlaveLoaded(row.slave, row.rows, row.error) for row in rows]
