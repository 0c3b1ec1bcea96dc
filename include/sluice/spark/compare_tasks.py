"""The tables of a verification as Spark tasks: one table of one slave a task."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyarrow as pa

from sluice import shell
from sluice.errors import SluiceError
from sluice.spark.errors import as_text, raise_any
from sluice.spark.session import spark
from sluice.vendors.protocol.compare import Comparison
from sluice.vendors.registry import vendor
from sluice.verify.merge_compare import Difference

_RESULT = "number long, found string, failure string"
_SCHEMA = pa.schema([("number", pa.int64()), ("found", pa.string()), ("failure", pa.string())])


def compare_all(jobs: list[Comparison]) -> list[Difference]:
    """Compare every table; what was found, in the order of the jobs.

    Raises:
        SluiceError: one of the databases cannot be read.
    """
    if not jobs:
        return []
    told = shell.told()

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shell.tell(told)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                try:
                    row = {"found": json.dumps(vars(vendor(jobs[number].replica.vendor).compare_table(jobs[number])))}
                except SluiceError as error:
                    row = {"failure": as_text(error)}
                yield pa.RecordBatch.from_pylist([{"number": number, **row}], schema=_SCHEMA)

    rows = spark().range(0, len(jobs), 1, len(jobs)).mapInArrow(task, _RESULT).collect()
    raise_any(row.failure for row in rows if row.failure)
    found = {row.number: Difference(**json.loads(row.found)) for row in rows}
    return [found[number] for number in range(len(jobs))]
