"""A directory in which initial data travels by hand: a path, or the URL of an object store, as pyarrow opens it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from sluice.errors import TransientError
from sluice.storage.files import HashingFile, flush


class Directory:
    """One directory; nothing is looked at or made until it is needed."""

    def __init__(self, url: str) -> None:
        self.url = url

    def within(self, name: str) -> Directory:
        """A directory in this one."""
        path, mark, options = self.url.partition("?")
        return Directory(f"{path.rstrip('/')}/{name}{mark}{options}")

    def expect_writable(self, size: int) -> None:
        """See that a file of so many bytes can be written to the directory, made before if it has to be; nothing is
        made. Of an object store it is only known whether it answers.

        Raises:
            TransientError: SLC-180.
        """
        with self.reachable("written to"):
            if self._files.type_name != "local":
                self._files.get_file_info([self._path])
                return
            below = next(path for path in (Path(self._path), *Path(self._path).parents) if path.exists())
            if not (below.is_dir() and os.access(below, os.W_OK | os.X_OK)):
                raise NotADirectoryError(f"nothing can be written to {below}")
            if (free := shutil.disk_usage(below).free) < size:
                raise OSError(f"only {free:,} bytes are free there, and a file may have {size:,}")

    def make(self) -> None:
        """Make the directory, and those that it is in."""
        with self.reachable("made"):
            self._files.create_dir(self._path)

    def files(self) -> dict[str, int]:
        """The files that are there, with their sizes in bytes; none if there is no such directory.

        Those of directories in it are told with their way. What a file manager hides is passed over.
        """
        with self.reachable("looked at"):
            found = self._files.get_file_info(fs.FileSelector(self._path, recursive=True, allow_not_found=True))
        begin = len(self._path.rstrip("/")) + 1
        sizes = {one.path[begin:]: int(one.size) for one in found if one.type == fs.FileType.File}
        return {name: sizes[name] for name in sorted(sizes) if not name.rpartition("/")[2].startswith(".")}

    def there(self) -> bool:
        """Whether there is such a directory."""
        return self._finds(self._path)

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        return self._finds(self._at(name))

    def _finds(self, path: str) -> bool:
        with self.reachable("looked at"):
            (found,) = self._files.get_file_info([path])
        return bool(found.type != fs.FileType.NotFound)

    def directories(self) -> list[str]:
        """The names of directories in this one; none if it is not there."""
        with self.reachable("looked at"):
            found = self._files.get_file_info(fs.FileSelector(self._path, allow_not_found=True))
        return sorted(one.base_name for one in found if one.type == fs.FileType.Directory)

    @contextmanager
    def writing(self, name: str) -> Iterator[HashingFile]:
        """A new file, which is hashed as it is written."""
        with self.reachable("written to"), self._files.open_output_stream(self._at(name), compression=None) as stream:
            yield HashingFile(stream)

    def flush(self, names: list[str]) -> None:
        """Wait until files, and that they are there, are on the disk. An object store does so by itself."""
        if self._files.type_name == "local":
            with self.reachable("flushed"):
                for path in [*map(self._at, names), self._path]:
                    flush(path)

    def write(self, name: str, content: bytes) -> None:
        """Write a file that is there as a whole, or not at all."""
        with self.reachable("written to"):
            with self._files.open_output_stream(self._at(f".{name}"), compression=None) as stream:
                stream.write(content)
            self.flush([f".{name}"])
            self._files.move(self._at(f".{name}"), self._at(name))
        self.flush([name])

    @contextmanager
    def reading(self, name: str) -> Iterator[pa.NativeFile]:
        """The bytes of a file."""
        with self.reachable("read"), self._files.open_input_stream(self._at(name), compression=None) as stream:
            yield stream

    def read(self, name: str) -> bytes:
        """All bytes of a file."""
        with self.reading(name) as stream:
            content: bytes = stream.read()
        return content

    def remove(self, names: list[str]) -> None:
        """Delete files."""
        with self.reachable("written to"):
            for name in names:
                self._files.delete_file(self._at(name))

    def remove_all(self) -> None:
        """Delete the directory with all that is in it."""
        with self.reachable("written to"):
            self._files.delete_dir(self._path)

    @contextmanager
    def reachable(self, done: str) -> Iterator[None]:
        """Let errors of the filesystem be ours.

        Raises:
            TransientError: SLC-180, the directory cannot be reached, or its disk is full.
        """
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            raise TransientError(
                180,
                f"the directory {self.url} cannot be {done}: {str(error).partition(chr(10))[0]}",
                "mount it, make room or mend its rights on every machine that runs tasks; then run this again",
            ) from None

    def _at(self, name: str) -> str:
        return f"{self._path.rstrip('/')}/{name}"

    @property
    def _files(self) -> fs.FileSystem:
        return self._opened[0]

    @property
    def _path(self) -> str:
        return self._opened[1]

    @cached_property
    def _opened(self) -> tuple[fs.FileSystem, str]:
        files, path = fs.FileSystem.from_uri(self.url)
        return files, str(path)
