"""Work as Spark tasks: a number for each, rows of Arrow back, and errors of ours as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.types import StructType

from sluice import release, shell
from sluice.errors import SluiceError
from sluice.spark.errors import as_text
from sluice.spark.session import spark

_ARROW = {"string": pa.string(), "long": pa.int64()}
_FAILURE = {"failure": "string"}


def collected(
    count: int, work: Callable[[int], Iterable[Mapping[str, object]]], fields: Mapping[str, str]
) -> list[Row]:
    """Do a work for each number below `count`, each in a task of its own, on whichever executor is free.

    Args:
        work: called with its number; returns rows. It can be pickled, with all that it refers to.
        fields: of a row, with their types, as Spark spells them: `string` or `long`. There is one more, `failure`: an
            error of ours in the form of `errors.as_text`, and then all that the row has.
    """
    deployment, version = shell.deployment_names(), release.VERSION
    names = {**fields, **_FAILURE}
    schema = pa.schema([(name, _ARROW[kind]) for name, kind in names.items()])

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shell.adopt(deployment)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                rows: list[Mapping[str, object]]
                try:
                    release.expect(version)
                    rows = list(work(number))
                except SluiceError as error:
                    rows = [{"failure": as_text(error)}]
                yield pa.RecordBatch.from_pylist(rows, schema=schema)

    # As types: a server would be asked what a text means.
    result = StructType()
    for name, kind in names.items():
        result = result.add(name, kind)
    rows: Any = spark().range(0, count, 1, count).mapInArrow(task, result).collect()
    return list(rows)
