"""The files of one table while a commit is made: rows appended, rows taken out, small files joined.

Files are never changed. One that loses rows is written anew without them, a group of rows at a time; one in which none
is found stays. So a commit costs what the files cost in which it finds something, and never more memory than some
groups.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sluice.model.names import TableName
from sluice.vendors.parquet.directory import DataFile, ReplicationDirectory, reachable
from sluice.vendors.parquet.types import TEXT, tokens

Flags = NDArray[np.bool_]

# So many files of a size are joined to one of the next size, so that a row is written anew seldom (logarithmically).
JOINED = 8
LARGEST = 128 * 1024 * 1024


class TableFiles:
    """A table's files, as they will be when the commit has ended.

    Attributes:
        epoch: of who writes them.
        listed: what they are by now.
    """

    def __init__(
        self, directory: ReplicationDirectory, table: TableName, epoch: int, listed: Sequence[DataFile]
    ) -> None:
        self._directory = directory
        self._table = table
        self._made: set[DataFile] = set()
        self.epoch = epoch
        self.listed = list(listed)

    def call(self, table: TableName) -> None:
        """Their table is called so from here on; those that are there stay where they are."""
        self._table = table

    def append(self, rows: pa.Table) -> None:
        """Add rows, as a file of their own."""
        if len(rows):
            self.listed.append(self._written(rows.schema, [rows]))

    def empty(self) -> None:
        """Take every row out."""
        self.listed.clear()

    def remove_keys(self, wanted: pa.Table, key: Sequence[str]) -> int:
        """Take out the rows whose keys are among these; how many there were."""
        keys = tokens(wanted, key)
        edges = _edges(wanted, key[0])

        def going(file: pq.ParquetFile, group: int) -> Flags | None:
            if edges and _outside(file, group, key[0], edges):
                return None
            rows = file.read_row_group(group, columns=[*key, TEXT])
            return _flags(tokens(rows, key), keys)

        return self._without(going)

    def remake(self, schema: pa.Schema, made: Callable[[pa.Table], Iterable[pa.Table]]) -> None:
        """Write every row anew, as it is to be."""
        for file in list(self.listed):
            self.listed.remove(file)
            self.listed.append(self._written(schema, (some for rows in self._rows(file) for some in made(rows))))

    def count(self, wanted: pa.Table, names: Sequence[str]) -> Counter[bytes]:
        """Count the rows that are equal to these, by their tokens."""
        images = tokens(wanted, names)
        found: Counter[bytes] = Counter()
        for rows in self.read():
            images_here = tokens(rows, names)
            found.update(images_here.filter(pc.is_in(images_here, value_set=images)).to_pylist())
        return found

    def read(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """All rows, some at a time."""
        return (rows for file in self.listed for rows in self._rows(file, columns))

    def remove_rows(self, quota: Counter[bytes], names: Sequence[str]) -> None:
        """Take out so many of the rows that have these tokens."""
        images = pa.array(list(quota), pa.binary())

        def going(file: pq.ParquetFile, group: int) -> Flags | None:
            images_here = tokens(file.read_row_group(group), names)
            flags = _flags(images_here, images)
            for index in np.flatnonzero(flags).tolist():
                image = images_here[index].as_py()
                flags[index] = quota[image] > 0
                quota[image] -= 1
            return flags

        self._without(going)

    def join(self) -> None:
        """Join files of a size when there are many, and forget what this commit made and does not need."""
        while group := self._many():
            joined = self._written(self._schema(group[0]), (rows for file in group for rows in self._rows(file)))
            self.listed = [file for file in self.listed if file not in group] + [joined]
        self._discard(self._made - set(self.listed))

    def discard(self) -> None:
        """Leave nothing behind of a commit that failed."""
        self._discard(self._made)

    def _without(self, going: Callable[[pq.ParquetFile, int], Flags | None]) -> int:
        """Write anew each file in which rows are going, by group; how many went."""
        gone = 0
        for file in list(self.listed):
            with self._open(file) as reader:
                flags = {group: going(reader, group) for group in range(reader.num_row_groups)}
                went = sum(int(one.sum()) for one in flags.values() if one is not None)
                if not went:
                    continue
                self.listed.remove(file)
                if went < file.rows:
                    self.listed.append(self._written(reader.schema_arrow, _staying(reader, flags)))
                gone += went
        return gone

    def _many(self) -> list[DataFile]:
        """Files of one size and one schema, if there are enough of them to be joined."""
        sizes: dict[int, list[DataFile]] = {}
        for file in self.listed:
            if file.bytes < LARGEST:
                sizes.setdefault(int(math.log(file.rows, JOINED)), []).append(file)
        for files in sizes.values():
            if len(files) >= JOINED:
                alike: dict[str, list[DataFile]] = {}
                for file in files:
                    alike.setdefault(str(self._schema(file)), []).append(file)
                for group in alike.values():
                    if len(group) >= JOINED:
                        return group
        return []

    def _written(self, schema: pa.Schema, parts: Iterable[pa.Table]) -> DataFile:
        with reachable(f"writing {self._table}"), self._directory.writer(self._table, self.epoch, schema) as writer:
            for rows in parts:
                writer.write(rows)
        self._made.add(writer.file)
        return writer.file

    @contextmanager
    def _open(self, file: DataFile) -> Iterator[pq.ParquetFile]:
        with (
            reachable(f"reading {self._table}"),
            pq.ParquetFile(self._directory.path(file), page_checksum_verification=True) as reader,
        ):
            yield reader

    def _rows(self, file: DataFile, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        with self._open(file) as reader:
            for group in range(reader.num_row_groups):
                yield reader.read_row_group(group, columns=columns)

    def _schema(self, file: DataFile) -> pa.Schema:
        with self._open(file) as reader:
            return reader.schema_arrow

    def _discard(self, files: Iterable[DataFile]) -> None:
        for file in list(files):
            (self._directory.root / file.path).unlink(missing_ok=True)
            self._made.discard(file)


def _flags(given: pa.Array, wanted: pa.Array) -> Flags:
    """A mask of the wanted values."""
    return np.array(pc.is_in(given, value_set=wanted), np.bool_)


def _staying(reader: pq.ParquetFile, going: Mapping[int, Flags | None]) -> Iterator[pa.Table]:
    for group, flags in going.items():
        rows = reader.read_row_group(group)
        yield rows if flags is None else rows.filter(pa.array(~flags))


def _edges(wanted: pa.Table, column: str) -> tuple[Any, Any] | None:
    """The smallest and the largest value of a column; None if they do not tell where rows may be."""
    values = wanted[column]
    # Statistics say nothing of NaN, nor of what stands as a text.
    if pa.types.is_floating(values.type) or values.null_count:
        return None
    edges = pc.min_max(values).as_py()
    return edges["min"], edges["max"]


def _outside(file: pq.ParquetFile, group: int, column: str, edges: tuple[Any, Any]) -> bool:
    """Whether no value of a group lies between these."""
    known = file.metadata.row_group(group).column(file.schema_arrow.get_field_index(column)).statistics
    return bool(known and known.has_min_max and (known.max < edges[0] or known.min > edges[1]))
