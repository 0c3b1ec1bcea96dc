"""Segments in an object store, or on HDFS, as pyarrow opens them: each task reads and writes by itself.

Every attempt writes under a new name, and a file is listed in the manifest only when all of it is there. So what a
killed attempt leaves behind is never read (R2).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager

import pyarrow as pa
from pyarrow import fs

from sluice.changelog.segment_file import SegmentFile
from sluice.changelog.segment_files import (
    FAILURES,
    SUFFIX,
    ParquetSegments,
    absent,
    reason,
    unwritable,
    write_rows,
)
from sluice.log import event
from sluice.storage.arrow_tree import open_filesystem
from sluice.storage.private_files import Readable


class ObjectStore(ParquetSegments):
    """Segments as Parquet files under one URL."""

    def __init__(self, url: str) -> None:
        self._url = url

    def begin(self, *, new: bool) -> None:
        """Nothing to do: such a place is not mounted, and makes its directories by itself."""

    def write(self, name: str, batches: Iterable[pa.RecordBatch]) -> SegmentFile:
        """Write a file, which the store shows and keeps once it is closed."""
        try:
            files, path = self._at(name)
        except FAILURES as error:
            raise unwritable(name, self._url, error) from None
        try:
            if _info(files, path):
                raise FileExistsError("there is a file of that name")
            with files.open_output_stream(path, compression=None) as stream:
                written = write_rows(name, stream, batches)
            # What is missing now would be purged from the master.
            if (info := _info(files, path)) is None or info.size != written.bytes:
                raise OSError(f"{info.size if info else 0:,} of {written.bytes:,} bytes are there")
        except FileExistsError as error:
            raise unwritable(name, self._url, error) from None
        except OSError as error:
            self.remove(name)
            raise unwritable(name, self._url, error) from None
        return written

    def names(self) -> list[str]:
        """Every file that is there, listed or not; none if there is no log yet."""
        try:
            files, path = open_filesystem(self._url)
            infos = files.get_file_info(fs.FileSelector(path, allow_not_found=True))
        except FAILURES as error:
            raise absent(f"the change log {self._url} cannot be looked at: {reason(error)}") from None
        named = (info.base_name for info in infos if info.type == fs.FileType.File)
        return sorted(name.removesuffix(SUFFIX) for name in named if name.endswith(SUFFIX))

    def has(self, name: str) -> bool:
        """Whether there is a file of that name. Raises TransientError SLC-053 if the store does not answer."""
        try:
            return _info(*self._at(name)) is not None
        except FAILURES as error:
            raise absent(f"the change log {self._url} cannot be looked at: {reason(error)}") from None

    def remove(self, name: str) -> None:
        """Delete a file, if it exists. A failure is logged only: the log does not need the file any more."""
        try:
            files, path = self._at(name)
            if _info(files, path):
                files.delete_file(path)
        except FAILURES as error:
            event("WARNING left behind", file=f"{self._url}/{name}", why=reason(error))

    def _open(self, name: str) -> AbstractContextManager[Readable]:
        files, path = self._at(name)
        stream: AbstractContextManager[Readable] = files.open_input_stream(path, compression=None)
        return stream

    def _at(self, name: str) -> tuple[fs.FileSystem, str]:
        files, path = open_filesystem(self._url)
        return files, f"{path.rstrip('/')}/{name}{SUFFIX}"


def _info(files: fs.FileSystem, path: str) -> fs.FileInfo | None:
    (info,) = files.get_file_info([path])
    return info if info.type != fs.FileType.NotFound else None
