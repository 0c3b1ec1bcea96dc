"""Segments on any Hadoop filesystem, written and read by Spark: a directory of parts, each a Parquet file.

The name is new for every attempt and the directory is listed in the manifest only when Spark has committed all of it,
so what a killed attempt leaves behind is never read (R2). Spark takes and gives whole tables, so a part is as much as
this process holds at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.functions import col, input_file_name, length, sha2

from sluice.changelog.schema import CHANGES, LOGGED
from sluice.changelog.segment_files import Written, absent, altered, legible
from sluice.errors import TransientError
from sluice.spark.session import spark

PART_BYTES = 64 * 1024 * 1024


class _Incomplete(Exception):
    """A file that is not complete."""


_FAILURES = (PySparkException, Py4JError, _Incomplete)


@dataclass(frozen=True)
class _Part:
    """A file of a segment; it is in a folder that is named after its place."""

    path: str
    sha256: str
    size: int


class HadoopDirectory:
    """See `sluice.changelog.segment_files.SegmentFiles`."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._listed: dict[str, list[_Part]] = {}

    def begin(self, *, new: bool) -> None:
        """Nothing to do: such a filesystem is not mounted, and Spark creates missing directories."""

    def write(self, name: str, batches: Iterable[pa.RecordBatch]) -> Written:
        """Write one directory, a part after the other; Spark commits each as a whole. Then look whether all are there:
        what is missing now would be purged, and not all that Spark writes to renames or lists in one step."""
        count = 0
        try:
            for number, table in enumerate(_tables(batches)):
                count += len(table)
                frame = spark().createDataFrame(table).coalesce(1).sortWithinPartitions("ordinal", "repl_key")
                part = f"{self._path(name)}/{number:06d}"
                frame.write.mode("errorifexists").option("compression", "zstd").parquet(part)
            parts = self._parts(name)
            if (found := self._count(parts)) != count:
                raise _Incomplete(f"{found} of {count} changes are there")
            return self._written(name, parts)
        except _FAILURES as error:
            raise TransientError(
                46,
                f"segment {name} cannot be written to {self._url}: {_reason(error)}",
                "no change is lost, they stay in ITEMS; make room or mend the filesystem, the next run goes on",
            ) from None

    def read(self, written: Written, after: int, schema: pa.Schema = CHANGES) -> Iterator[pa.RecordBatch]:
        """Read the rows with later ordinals, of the bytes that were hashed: a part at a time, fetched as a whole.

        The manifest has one hash of the hashes of all parts: these are looked at once, and each part is held against
        its own whenever it is read.
        """
        try:
            if written.name not in self._listed:
                parts = self._parts(written.name)
                if (found := self._written(written.name, parts)) != written:
                    raise altered(written.name, f"its SHA-256 is {found.sha256}, the manifest has {written.sha256}")
                self._listed[written.name] = parts
            for part in self._listed[written.name]:
                content = self._content(written.name, part)
                with legible(written.name):
                    yield from _rows(content, after, schema)
        except _FAILURES as error:
            if self.names():
                raise altered(written.name, _reason(error)) from None
            raise absent(f"segment {written.name} cannot be read from {self._url}: {_reason(error)}") from None

    def names(self) -> list[str]:
        """Every directory that holds a Parquet file, listed in the manifest or not; none if there is no log yet."""
        try:
            files = self._files(self._url)
            paths = [row.path for row in files.select(input_file_name().alias("path")).distinct().collect()]
        except _FAILURES as error:
            if isinstance(error, AnalysisException) and error.getCondition() == "PATH_NOT_FOUND":
                return []
            raise absent(f"the change log {self._url} cannot be looked at: {_reason(error)}") from None
        return sorted({path.rsplit("/", 3)[-3] for path in paths})

    def has(self, name: str) -> bool:
        """Whether there is a directory of that name."""
        return name in self.names()

    def remove(self, name: str) -> None:
        """Overwrite the directory by an empty text, which `names` passes over: Spark offers no deletion."""
        try:
            empty = spark().createDataFrame([], "value string")
            empty.coalesce(1).write.mode("overwrite").text(self._path(name))
        except _FAILURES as error:
            raise absent(f"segment {name} cannot be removed from {self._url}: {_reason(error)}") from None

    def _path(self, name: str) -> str:
        return f"{self._url}/{name}"

    def _files(self, path: str) -> DataFrame:
        files = spark().read.format("binaryFile").option("pathGlobFilter", "*.parquet")
        return files.option("recursiveFileLookup", "true").load(path)

    def _parts(self, name: str) -> list[_Part]:
        """The files of a segment, in their order."""
        rows = self._files(self._path(name)).select(
            "path", sha2(col("content"), 256).alias("sha256"), length("content").alias("size")
        )
        return sorted((_Part(**row.asDict()) for row in rows.collect()), key=lambda part: part.path)

    def _content(self, name: str, part: _Part) -> bytes:
        """The bytes of a part, all of them as they were listed."""
        row = self._files(part.path).select("content").head()
        content = bytes(row.content) if row else b""
        if hashlib.sha256(content).hexdigest() != part.sha256:
            raise altered(name, f"{part.path} changed while it was read")
        return content

    def _count(self, parts: list[_Part]) -> int:
        return spark().read.parquet(*(part.path for part in parts)).count() if parts else 0

    def _written(self, name: str, parts: list[_Part]) -> Written:
        """SHA-256 of the hashes of all its files, in their order, and their size."""
        sha256 = hashlib.sha256("".join(part.sha256 for part in parts).encode()).hexdigest()
        return Written(name, sha256, sum(part.size for part in parts))


def _tables(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The batches, some together, of about `PART_BYTES`."""
    pending: list[pa.RecordBatch] = []
    for batch in batches:
        pending.append(batch)
        if sum(one.nbytes for one in pending) >= PART_BYTES:
            yield pa.Table.from_batches(pending, schema=LOGGED)
            pending = []
    if pending:
        yield pa.Table.from_batches(pending, schema=LOGGED)


def _rows(content: bytes, after: int, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(pa.BufferReader(content)) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=schema.names).select(schema.names).cast(schema)
            yield from table.filter(pc.greater(table["ordinal"], after)).to_batches()


def _reason(error: Exception) -> str:
    """The reason of a failure in one line: the second one of Py4J's text; the first one names the call."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[1 if isinstance(error, Py4JError) and len(lines) > 1 else 0].removeprefix(": ")
