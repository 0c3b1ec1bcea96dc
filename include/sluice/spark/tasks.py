"""Work as Spark tasks: a number for each, rows of Arrow back, and errors of ours as data."""

from __future__ import annotations

import pickle
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sluice import release, shell
from sluice.arrow_without_pandas import hide_pandas
from sluice.spark.errors import failure
from sluice.spark.session import label

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Row

_FAILURE = {"failure": "string"}
# Of an executor of another build: its host, and the build.
_ANOTHER = {"another_host": "string", "another_build": "string"}


def collect(
    count: int,
    work: Callable[[int], Iterable[Mapping[str, object]]],
    fields: Mapping[str, str],
    name: str | None = None,
) -> list[Row]:
    """Do a work for each number below `count`, each in a task of its own, on whichever executor is free.

    Args:
        work: called with its number; returns rows. It can be pickled, with all that it refers to.
        fields: of a row, with their types, as Spark spells them: `string` or `long`. There is one more, `failure`: an
            error of ours in the form of `errors.as_text`, and then all that the row has.
        name: what Spark shows the tasks by; else it is the name of the job.

    Raises:
        TransientError: SLC-377, an executor has another build of the product.
    """
    # They take long to load, and a job that finds nothing to do ends without them.
    import pyarrow as pa
    from pyspark.sql.types import StructType

    names = {**fields, **_FAILURE, **_ANOTHER}
    kinds = {"string": pa.string(), "long": pa.int64()}
    schema = pa.schema([(field, kinds[kind]) for field, kind in names.items()])
    task = _task(_pickle(_rows_of(work)), release.build(), schema)
    # As types: a server would be asked what a text means.
    result = StructType()
    for field, kind in names.items():
        result = result.add(field, kind)
    rows: Any = label(name).range(0, count, 1, count).mapInArrow(task, result).collect()
    for row in rows:
        if row.another_build is not None:
            raise release.another(row.another_host, row.another_build)
    return list(rows)


def _pickle(work: object) -> bytes:
    from pyspark import cloudpickle

    pickled: bytes = cloudpickle.dumps(work)  # type: ignore[no-untyped-call]
    return pickled


def _task(work: bytes, build: str, schema: pa.Schema) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What an executor unpickles first. It refers to nothing of ours, so that any build can tell that it is another."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from sluice import release

        # A build of before builds were told apart has a version alone.
        there = release.build() if hasattr(release, "build") else release.VERSION
        rows_of = pickle.loads(work) if there == build else None
        for batch in batches:
            for number in batch.column(0).to_pylist():
                if rows_of is None:
                    rows = [{"another_host": socket.gethostname(), "another_build": there}]
                else:
                    rows = rows_of(number)
                yield pa.RecordBatch.from_pylist(rows, schema=schema)

    return task


def _rows_of(
    work: Callable[[int], Iterable[Mapping[str, object]]],
) -> Callable[[int], list[Mapping[str, object]]]:
    """A work on an executor: its messages name commands as this deployment does, its errors are rows."""
    deployment = shell.deployment_names()

    def rows_of(number: int) -> list[Mapping[str, object]]:
        hide_pandas()
        shell.adopt(deployment)
        try:
            return list(work(number))
        except Exception as error:
            return [{"failure": failure(error)}]

    return rows_of
