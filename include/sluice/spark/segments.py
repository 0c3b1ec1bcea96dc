"""Segments on any Hadoop filesystem, written and read by Spark: a directory of one Parquet file each.

The name is new for every attempt and the directory is listed in the manifest only when Spark has committed it, so what
a killed attempt leaves behind is never read (R2).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.functions import col, input_file_name, length, sha2

from sluice.changelog.files import Written, altered
from sluice.changelog.schema import CHANGES, LOGGED
from sluice.errors import TransientError
from sluice.spark.session import spark

_FAILURES = (PySparkException, Py4JError)


class HadoopDirectory:
    """See `sluice.changelog.files.SegmentFiles`."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._intact: set[str] = set()

    def begin(self, *, new: bool) -> None:
        """Nothing to be done: a filesystem of this kind is not mounted, and Spark makes what is missing."""

    def write(self, name: str, batches: Iterable[pa.RecordBatch]) -> Written:
        """Write one directory; Spark commits it as a whole."""
        table = pa.Table.from_batches(batches, schema=LOGGED)
        try:
            frame = spark().createDataFrame(table).coalesce(1).sortWithinPartitions("ordinal", "repl_key")
            frame.write.mode("errorifexists").option("compression", "zstd").parquet(self._path(name))
            sha256, size = self._digest(name)
        except _FAILURES as error:
            raise TransientError(
                46,
                f"segment {name} cannot be written to {self._url}: {_first_line(error)}",
                "no change is lost, they stay in ITEMS; make room or mend the filesystem, the next run goes on",
            ) from None
        return Written(name, sha256, size)

    def read(self, written: Written, after: int, schema: pa.Schema = CHANGES) -> Iterator[pa.RecordBatch]:
        """Check the hash once, then read the rows with later ordinals, in order."""
        try:
            if written.name not in self._intact:
                sha256, _ = self._digest(written.name)
                if sha256 != written.sha256:
                    raise altered(written.name, f"its SHA-256 is {sha256}, the manifest has {written.sha256}")
                self._intact.add(written.name)
            frame = spark().read.parquet(self._path(written.name)).where(col("ordinal") > after)
            table = frame.orderBy("ordinal", "repl_key").select(*schema.names).toArrow()
        except _FAILURES as error:
            raise altered(written.name, _first_line(error)) from None
        yield from table.cast(schema).to_batches()

    def names(self) -> list[str]:
        """Every directory that holds a Parquet file, listed in the manifest or not."""
        files = self._files("*")
        try:
            paths = [row.path for row in files.select(input_file_name().alias("path")).distinct().collect()]
        except _FAILURES:
            return []
        return sorted({path.rsplit("/", 2)[-2] for path in paths})

    def remove(self, name: str) -> None:
        """Overwrite the directory by an empty text, which `names` passes over: Spark offers no deletion."""
        empty = spark().createDataFrame([], "value string")
        empty.coalesce(1).write.mode("overwrite").text(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._url}/{name}"

    def _files(self, name: str) -> DataFrame:
        return spark().read.format("binaryFile").option("pathGlobFilter", "*.parquet").load(self._path(name))

    def _digest(self, name: str) -> tuple[str, int]:
        """SHA-256 of the hashes of all its files, in their names' order, and their size."""
        rows = self._files(name).select(
            "path", sha2(col("content"), 256).alias("sha256"), length("content").alias("size")
        )
        found = sorted(rows.collect(), key=lambda row: row.path)
        return hashlib.sha256("".join(row.sha256 for row in found).encode()).hexdigest(), sum(row.size for row in found)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
