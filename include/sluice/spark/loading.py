"""The chunks of a dump as Spark tasks: one chunk a task, on whichever executor is free."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from sluice.errors import SluiceError
from sluice.initial_update.job import ChunkLoaded, LoadJob
from sluice.spark.failures import as_text, raise_any
from sluice.spark.session import spark
from sluice.vendors.registry import vendor

_RESULT = "chunk long, slave string, rows long, error string, failure string"
_SCHEMA = pa.schema(
    [
        ("chunk", pa.int64()),
        ("slave", pa.string()),
        ("rows", pa.int64()),
        ("error", pa.string()),
        ("failure", pa.string()),
    ]
)


def load(job: LoadJob) -> list[ChunkLoaded]:
    """Run every chunk of the dump; returns what became of each on each slave.

    Raises:
        SluiceError: the source cannot be read.
    """
    count = len(job.chunks)
    if not count:
        return []

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                try:
                    done: list[dict[str, object]] = [
                        vars(one) for one in vendor(job.vendor).load_chunk(job, job.chunks[number])
                    ]
                except SluiceError as error:
                    done = [{"chunk": number, "failure": as_text(error)}]
                yield pa.RecordBatch.from_pylist(done, schema=_SCHEMA)

    rows = spark().range(0, count, 1, count).mapInArrow(task, _RESULT).collect()
    raise_any(row.failure for row in rows if row.failure)
    return [ChunkLoaded(row.chunk, row.slave, row.rows, row.error) for row in rows]
