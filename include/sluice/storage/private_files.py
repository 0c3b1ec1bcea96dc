"""Private files: created for our user only, read only if they are regular files, hashed while they are read.

A hash says something about bytes, and nothing about a name: between two opens another file may stand there.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Protocol

from sluice.errors import TransientError

# Larger copies are on the disk.
IN_MEMORY = 8 * 1024 * 1024
_BUFFER = 1024 * 1024
DIRECTORY, FILE = 0o700, 0o600
# How open() refuses a symbolic link, a socket, and a device without a driver.
_IRREGULAR = (errno.ELOOP, errno.ENXIO, errno.ENODEV)


class IrregularFile(Exception):
    """A symbolic link, a directory, a FIFO, a socket or a device stands where a file should be."""

    def __init__(self, name: Path | str) -> None:
        super().__init__(f"{name} is no regular file")


class Readable(Protocol):
    """Bytes in sequence."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, none at the end."""


@dataclass(frozen=True)
class PrivateCopy:
    """A private copy of a file: its SHA-256, its size, and a file object at its start."""

    sha256: str
    size: int
    file: IO[bytes]


def open_file(path: Path | str, directory: int | None = None) -> IO[bytes]:
    """A file to be read.

    Args:
        directory: a descriptor; the path is of something in it.

    Raises:
        IrregularFile: it is none; nothing is waited for, and no link is followed.
        OSError: it cannot be opened.
    """
    try:
        # Opening a FIFO without a writer would wait.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except OSError as error:
        if error.errno in _IRREGULAR:
            raise IrregularFile(path) from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise IrregularFile(path)
    return os.fdopen(descriptor, "rb")


def create_file(path: Path | str, directory: int | None = None, mode: int = FILE) -> IO[bytes]:
    """A new file. Raises FileExistsError if anything has that name."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, mode, dir_fd=directory), "wb")


def open_append(path: Path, mode: int = FILE) -> IO[bytes]:
    """A file, made if need be, that grows at its end. Raises OSError, also if it is a link."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, mode), "ab")


def make(directory: Path, *, parents: bool = True) -> None:
    """Make a directory of mode 0700 if it is not there, with those that it is in.

    Raises:
        OSError: it cannot be made; without `parents` also if what it is to be in is not there.
    """
    if parents:
        for missing in reversed([parent for parent in directory.parents if not parent.exists()]):
            missing.mkdir(mode=DIRECTORY, exist_ok=True)
    directory.mkdir(mode=DIRECTORY, exist_ok=True)


@contextmanager
def private_copy(source: Readable, size: int) -> Iterator[PrivateCopy]:
    """Copy and hash a stream: in memory, or in an unnamed file if it is large.

    Args:
        size: how many bytes are expected. Of more, one more is copied.

    Raises:
        TransientError: SLC-658, there is no room for it in the temporary directory.
    """
    digest, count = hashlib.sha256(), 0
    with BytesIO() if size <= IN_MEMORY else _temporary_file() as file:
        while buffer := source.read(min(_BUFFER, size + 1 - count)):
            digest.update(buffer)
            count += len(buffer)
            with _room():
                file.write(buffer)
        with _room():
            file.seek(0)
        yield PrivateCopy(digest.hexdigest(), count, file)


def _temporary_file() -> IO[bytes]:
    with _room():
        return tempfile.TemporaryFile()


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise TransientError(
            658,
            f"a file cannot be copied to {tempfile.tempdir or 'a temporary directory'} to be read: {error.strerror}",
            "nothing is lost; make room there, or let TMPDIR name another directory; the run tries again by itself",
        ) from None
