"""The tables of a verification as Spark tasks: one table of one slave, or one range of its keys, a task."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pyspark.sql import Row

from sluice.errors import SluiceError
from sluice.spark.errors import as_text, from_text
from sluice.spark.tasks import collected
from sluice.vendors.protocol.compare import Comparison
from sluice.vendors.registry import vendor
from sluice.verify.difference import Difference


def compare_all(jobs: list[Comparison]) -> list[Difference | SluiceError]:
    """Compare every table; what was found, or why it could not be compared, in the order of the jobs.

    Raises:
        TransientError: SLC-377, an executor has another build of the product.
    """
    if not jobs:
        return []

    def work(number: int) -> Iterator[dict[str, object]]:
        try:
            found = vendor(jobs[number].replica.vendor).compare_table(jobs[number])
            yield {"number": number, "found": json.dumps(found.to_json())}
        except SluiceError as error:
            yield {"number": number, "error": as_text(error)}

    fields = {"number": "long", "found": "string", "error": "string"}
    rows = {row.number: row for row in collected(len(jobs), work, fields)}
    return [_outcome(rows[number]) for number in range(len(jobs))]


def _outcome(row: Row) -> Difference | SluiceError:
    return from_text(row.error) if row.error else Difference.from_json(json.loads(row.found))
