"""The tables of a verification as Spark tasks: one table of one slave, or one range of its keys, a task."""

from __future__ import annotations

import json
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from sluice.errors import SluiceError
from sluice.spark.errors import failure, from_text
from sluice.spark.session import spark
from sluice.spark.tasks import collect
from sluice.vendors.protocol.compare import Comparison
from sluice.vendors.registry import vendor
from sluice.verify.difference import Difference

if TYPE_CHECKING:
    from pyspark.sql import Row

# So many batches, at most, whose outcomes are known before all are; and the least comparisons of one.
_BATCHES, _LEAST = 16, 4


def compare_all(jobs: list[Comparison]) -> Iterator[Difference | SluiceError]:
    """Compare every table; what was found, or why it could not be compared, in the order of the jobs.

    All are begun at once, in batches: Spark gives the tasks of the next one to executors that are free. The outcomes of
    a batch are known as soon as all its comparisons are made.

    Raises:
        TransientError: SLC-377, an executor has another build of the product.
    """
    size = max(_LEAST, -(-len(jobs) // _BATCHES))
    batches = [jobs[first : first + size] for first in range(0, len(jobs), size)]
    if len(batches) == 1:
        yield from _compare(jobs)
        return
    # Made here: each thread would make a session of its own.
    spark()
    for answer in [_begin(batch) for batch in batches]:
        outcomes = answer.get()
        if isinstance(outcomes, BaseException):
            raise outcomes
        yield from outcomes


def _begin(jobs: list[Comparison]) -> SimpleQueue[list[Difference | SluiceError] | BaseException]:
    """The outcomes of a batch, once they are there. Its thread is not waited for if the job has to end."""
    answer: SimpleQueue[list[Difference | SluiceError] | BaseException] = SimpleQueue()

    def work() -> None:
        try:
            answer.put(_compare(jobs))
        except BaseException as error:
            answer.put(error)

    Thread(target=work, name="compare", daemon=True).start()
    return answer


def _compare(jobs: list[Comparison]) -> list[Difference | SluiceError]:

    def work(number: int) -> Iterator[dict[str, object]]:
        try:
            difference = vendor(jobs[number].replica.vendor).compare_table(jobs[number])
            yield {"number": number, "found": json.dumps(difference.to_json())}
        except Exception as error:
            yield {"number": number, "error": failure(error)}

    fields = {"number": "long", "found": "string", "error": "string"}
    rows = {row.number: row for row in collect(len(jobs), work, fields)}
    return [_outcome(rows[number]) for number in range(len(jobs))]


def _outcome(row: Row) -> Difference | SluiceError:
    return from_text(row.error) if row.error else Difference.from_json(json.loads(row.found))
