"""The tables of a verification as Spark tasks: one table of one slave a task."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sluice.spark.errors import raise_any
from sluice.spark.tasks import collected
from sluice.vendors.protocol.compare import Comparison
from sluice.vendors.registry import vendor
from sluice.verify.difference import Difference


def compare_all(jobs: list[Comparison]) -> list[Difference]:
    """Compare every table; what was found, in the order of the jobs.

    Raises:
        SluiceError: one of the databases cannot be read.
    """
    if not jobs:
        return []

    def work(number: int) -> Iterator[dict[str, object]]:
        found = vendor(jobs[number].replica.vendor).compare_table(jobs[number])
        yield {"number": number, "found": json.dumps(found.to_json())}

    rows = collected(len(jobs), work, {"number": "long", "found": "string"})
    raise_any(row.failure for row in rows if row.failure)
    found = {row.number: Difference.from_json(json.loads(row.found)) for row in rows}
    return [found[number] for number in range(len(jobs))]
