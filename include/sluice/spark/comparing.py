"""The tables of a verification as Spark tasks: one table of one slave a task."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyarrow as pa

from sluice.spark.session import spark
from sluice.vendors.registry import vendor
from sluice.verify.compare import Difference
from sluice.verify.comparison import Comparison

_SCHEMA = pa.schema([("number", pa.int64()), ("found", pa.string())])


def compare_all(jobs: list[Comparison]) -> list[Difference]:
    """Compare every table; what was found, in the order of the jobs."""
    if not jobs:
        return []

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                found = json.dumps(vars(vendor(jobs[number].vendor).compare_table(jobs[number])))
                yield pa.RecordBatch.from_pylist([{"number": number, "found": found}], schema=_SCHEMA)

    rows = spark().range(0, len(jobs), 1, len(jobs)).mapInArrow(task, "number long, found string").collect()
    found = {row.number: Difference(**json.loads(row.found)) for row in rows}
    return [found[number] for number in range(len(jobs))]
