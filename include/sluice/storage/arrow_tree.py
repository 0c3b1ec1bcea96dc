"""Filesystems as pyarrow opens them: object stores, HDFS, and those of this machine."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa
from pyarrow import fs


class ArrowTree:
    """A directory of an object store, or on HDFS: see `sluice.storage.directory.Tree`."""

    def __init__(self, files: fs.FileSystem, root: str, steps: tuple[str, ...]) -> None:
        self._files = files
        self._path = "/".join([root.rstrip("/"), *steps])

    def files(self) -> dict[str, int]:
        entries = self._files.get_file_info(fs.FileSelector(self._path, recursive=True, allow_not_found=True))
        begin = len(self._path) + 1
        files = {entry.path[begin:]: int(entry.size) for entry in entries if entry.type == fs.FileType.File}
        return {name: size for name, size in files.items() if not name.rpartition("/")[2].startswith(".")}

    def directories(self) -> list[str]:
        entries = self._files.get_file_info(fs.FileSelector(self._path, allow_not_found=True))
        return [entry.base_name for entry in entries if entry.type == fs.FileType.Directory]

    def has(self, name: str = "") -> bool:
        (entry,) = self._files.get_file_info([self._at(name) if name else self._path])
        return bool(entry.type != fs.FileType.NotFound)

    def make(self) -> None:
        self._files.create_dir(self._path)

    def open(self, name: str) -> pa.NativeFile:
        return self._files.open_input_stream(self._at(name), compression=None)

    def create(self, name: str) -> pa.NativeFile:
        return self._files.open_output_stream(self._at(name), compression=None)

    def replace(self, name: str, by: str) -> None:
        self._files.move(self._at(by), self._at(name))

    def flush(self, names: list[str]) -> None:
        pass

    def remove(self, name: str) -> None:
        self._files.delete_file(self._at(name))

    def remove_all(self) -> None:
        self._files.delete_dir(self._path)

    def expect_room(self, size: int) -> None:
        self._files.get_file_info([self._path])

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"


@lru_cache(maxsize=16)
def open_filesystem(url: str) -> tuple[fs.FileSystem, str]:
    """The filesystem of a path or URL, and the path on it. Raises pyarrow's errors."""
    files, path = fs.FileSystem.from_uri(url)
    return files, str(path)
