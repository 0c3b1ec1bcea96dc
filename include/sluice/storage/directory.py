"""A directory in which initial data travels by hand: a path, or the URL of an object store, as pyarrow opens it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import IO, Protocol

from sluice.errors import SluiceError, TransientError
from sluice.storage.files import HashingFile
from sluice.storage.place import StoragePlace
from sluice.storage.private_directory import PrivateTree
from sluice.storage.private_files import IrregularFile, Readable

# Of a file that is read as a whole, such as a manifest: it is somebody else's, until its hash is known.
MOST_BYTES = 64 * 1024 * 1024


class Tree(Protocol):
    """A directory of some filesystem. Everything may raise OSError, ArrowException or IrregularFile."""

    def files(self) -> dict[str, int]:
        """Every file that is there and in directories below, by its way, with its size; none if there is no such one.

        What a file manager hides is passed over.
        """

    def directories(self) -> list[str]:
        """The directories in it; none if it is not there."""

    def has(self, name: str = "") -> bool:
        """Whether a file is there; the directory itself, if none is named."""

    def make(self) -> None:
        """Make it, and what it is in."""

    def open(self, name: str) -> AbstractContextManager[Readable]:
        """A file to be read."""

    def create(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """A new file."""

    def replace(self, name: str, by: str) -> None:
        """Give a file another name, in place of what has it."""

    def flush(self, names: list[str]) -> None:
        """Wait until files, and that they are there, are on the disk."""

    def remove(self, name: str) -> None:
        """Delete a file."""

    def remove_all(self) -> None:
        """Delete it with all that is in it."""

    def expect_room(self, size: int) -> None:
        """See that a file of so many bytes can be written; nothing is made."""


class Directory(StoragePlace):
    """One directory; nothing is looked at or made until it is needed. Nobody is led out of it by what is in it."""

    def expect_writable(self, size: int) -> None:
        """See that a file of so many bytes can be written to the directory, made before if it has to be; nothing is
        made. Of an object store it is only known whether it answers.

        Raises:
            TransientError: SLC-180.
        """
        with self.reachable("written to"):
            self._tree.expect_room(size)

    def make(self) -> None:
        """Make the directory, and those that it is in."""
        with self.reachable("made"):
            self._tree.make()

    def files(self) -> dict[str, int]:
        """The files that are there, with their sizes in bytes; none if there is no such directory.

        Those of directories in it have their path. Hidden files are skipped.

        Raises:
            SluiceError: SLC-331, something is there that is neither a file nor a directory.
        """
        with self.reachable("looked at"):
            sizes = self._tree.files()
        return {name: sizes[name] for name in sorted(sizes)}

    def exists(self) -> bool:
        """Whether there is such a directory."""
        with self.reachable("looked at"):
            return self._tree.has()

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        with self.reachable("looked at"):
            return self._tree.has(name)

    def directories(self) -> list[str]:
        """The names of directories in this one; none if it is not there."""
        with self.reachable("looked at"):
            return sorted(self._tree.directories())

    @contextmanager
    def create(self, name: str) -> Iterator[HashingFile]:
        """A new file, which is hashed as it is written."""
        with self.reachable("written to"), self._tree.create(name) as stream:
            yield HashingFile(stream)

    def flush(self, names: list[str]) -> None:
        """Wait until files, and that they are there, are on the disk. An object store does so by itself."""
        with self.reachable("flushed"):
            self._tree.flush(names)

    def write(self, name: str, content: bytes) -> None:
        """Write a file that is there as a whole, or not at all.

        Raises:
            SluiceError: SLC-183, nobody would read it: it is too large.
        """
        if len(content) > MOST_BYTES:
            raise self._too_large(name)
        draft = f".{name}"
        with self.reachable("written to"):
            if self._tree.has(draft):
                self._tree.remove(draft)
            with self._tree.create(draft) as stream:
                stream.write(content)
            self._tree.flush([draft])
            self._tree.replace(name, draft)
        self.flush([name])

    @contextmanager
    def open(self, name: str) -> Iterator[Readable]:
        """The bytes of a file."""
        with self.reachable("read"), self._tree.open(name) as stream:
            yield stream

    def read(self, name: str) -> bytes:
        """All bytes of a file.

        Raises:
            SluiceError: SLC-183, there are too many; none of them is looked at.
        """
        with self.open(name) as stream:
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise self._too_large(name)
        return content

    def remove(self, names: list[str]) -> None:
        """Delete files."""
        with self.reachable("written to"):
            for name in names:
                self._tree.remove(name)

    def remove_all(self) -> None:
        """Delete the directory with all that is in it."""
        with self.reachable("written to"):
            self._tree.remove_all()

    @contextmanager
    def reachable(self, done: str) -> Iterator[None]:
        """Let errors of the filesystem be ours.

        Raises:
            TransientError: SLC-180, the directory cannot be reached, or its disk is full.
            SluiceError: SLC-331, a link or a device stands where a file or a directory should be.
        """
        try:
            yield
        except IrregularFile as error:
            raise SluiceError(
                331,
                f"in the directory {self.url}, {error}, nor a directory: links and devices are not followed",
                "nothing was read or written by way of it; find out who made it, put the file itself there, or remove "
                "it, then run this again",
            ) from None
        except _failures() as error:
            raise TransientError(
                180,
                f"the directory {self.url} cannot be {done}: {str(error).partition(chr(10))[0]}",
                "mount it, make room or fix its rights on every machine that runs tasks; then run this again",
            ) from None

    def _too_large(self, name: str) -> SluiceError:
        return SluiceError(
            183,
            f"{self.url}/{name} has more than {MOST_BYTES:,} bytes, so it is not read",
            "if somebody else wrote it, copy it again; if it is ours, let `initial_files.max_bytes` of the source be "
            "larger, so that there are fewer files to list, and trigger initial_update again",
        )

    @property
    def _tree(self) -> Tree:
        # It brings Arrow along, and many know a directory without looking into it.
        from sluice.storage.arrow_tree import ArrowTree, open_filesystem

        files, path = open_filesystem(self.root)
        return PrivateTree(path, self.steps) if files.type_name == "local" else ArrowTree(files, path, self.steps)


def _failures() -> tuple[type[Exception], ...]:
    """How a filesystem fails; where Arrow is not loaded, nothing of it failed."""
    arrow = sys.modules.get("pyarrow")
    # Directories that are in each other may be too many for one process to go through.
    return (OSError, RecursionError, *((arrow.ArrowException,) if arrow else ()))
