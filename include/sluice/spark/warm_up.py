"""One small job on the Spark server, so that the first real one finds its Python workers running."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from sluice.spark.session import spark

TASKS = 2


def warm_up() -> None:
    """Run one task on each core, through the same door as a dump or a comparison."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches

    session = spark()
    session.range(0, TASKS, 1, TASKS).mapInArrow(task, "id long").collect()
    session.stop()


if __name__ == "__main__":
    warm_up()
