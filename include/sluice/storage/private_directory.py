"""A local directory that is opened without following symbolic links, step by step below its root.

What is made in it is ours alone: directories have the mode 0700, files 0600.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sluice.storage import private_files
from sluice.storage.private_files import IrregularFile

# Nobody carries directories in directories as deep as this; they are made to end us.
_DEEPEST = 32


@dataclass(frozen=True)
class PrivateTree:
    """See `sluice.storage.directory.Tree`.

    Attributes:
        root: may be reached by links, since an administrator named it.
        steps: the way from there.
    """

    root: str
    steps: tuple[str, ...] = ()

    def files(self) -> dict[str, int]:
        """Every file that is there and in directories below, with its size. Raises IrregularFile at what is none."""
        with suppress(FileNotFoundError), self._enter() as here:
            return dict(_walk(here, ""))
        return {}

    def directories(self) -> list[str]:
        """The directories in it."""
        with suppress(FileNotFoundError), self._enter() as here, os.scandir(here) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        return []

    def has(self, name: str = "") -> bool:
        """Whether there is anything of that name; the directory itself, if none is given."""
        with suppress(FileNotFoundError), self._parent(name) as (here, last):
            return not last or bool(os.stat(last, dir_fd=here, follow_symlinks=False))
        return False

    def make(self) -> None:
        """Make it, and what it is in."""
        private_files.make(Path(self.root))
        for number, step in enumerate(self.steps):
            with PrivateTree(self.root, self.steps[:number])._enter() as here, suppress(FileExistsError):
                os.mkdir(step, private_files.DIRECTORY, dir_fd=here)
        with self._enter():
            pass  # what was there before is a directory, too

    def open(self, name: str) -> IO[bytes]:
        """A file to be read."""
        with self._parent(name) as (here, last):
            return private_files.open_file(last, here)

    def create(self, name: str) -> IO[bytes]:
        """A new file."""
        with self._parent(name) as (here, last):
            return private_files.create_file(last, here)

    def replace(self, name: str, by: str) -> None:
        """Give a file another name, in place of what has it."""
        with self._enter() as here:
            os.replace(by, name, src_dir_fd=here, dst_dir_fd=here)

    def flush(self, names: list[str]) -> None:
        """Wait until files, and that they are there, are on the disk."""
        for name in names:
            with self.open(name) as file:
                os.fsync(file.fileno())
        with self._enter() as here:
            os.fsync(here)

    def remove(self, name: str) -> None:
        """Delete a file, or what is called like one."""
        with self._parent(name) as (here, last):
            os.unlink(last, dir_fd=here)

    def remove_all(self) -> None:
        """Delete it with all that is in it; links themselves, and nothing that they lead to."""
        if not self.steps:
            shutil.rmtree(self.root)
            return
        *above, last = self.steps
        with PrivateTree(self.root, tuple(above))._enter() as here:
            shutil.rmtree(last, dir_fd=here)

    def expect_room(self, size: int) -> None:
        """See that a file of so many bytes can be written here, or where this is to be made. Raises OSError."""
        directory = Path(self.root, *self.steps)
        below = next(path for path in (directory, *directory.parents) if path.exists())
        if not (below.is_dir() and os.access(below, os.W_OK | os.X_OK)):
            raise NotADirectoryError(f"nothing can be written to {below}")
        if (free := shutil.disk_usage(below).free) < size:
            raise OSError(f"only {free:,} bytes are free there, and a file may have {size:,}")

    @contextmanager
    def _parent(self, name: str) -> Iterator[tuple[int, str]]:
        """The directory that a name is in, and the last part of the name."""
        *steps, last = name.split("/")
        with self._enter(*steps) as here:
            yield here, last

    @contextmanager
    def _enter(self, *further: str) -> Iterator[int]:
        """A descriptor of it, or of a directory in it. Raises IrregularFile if a step is a link, or leads back."""
        here = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for step in (*self.steps, *further):
                outer, here = here, _step(here, step)
                os.close(outer)
            yield here
        finally:
            os.close(here)


def _step(here: int, name: str) -> int:
    if name in ("", ".", "..") or "/" in name:
        raise IrregularFile(name)
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise IrregularFile(name) from None
        raise


def _walk(here: int, path: str) -> Iterator[tuple[str, int]]:
    with os.scandir(here) as entries:
        for entry in entries:
            about = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(about.st_mode):
                if path.count("/") == _DEEPEST:
                    raise OSError(errno.ELOOP, f"more than {_DEEPEST} directories, one in the other", path)
                inner = _step(here, entry.name)
                try:
                    yield from _walk(inner, f"{path}{entry.name}/")
                finally:
                    os.close(inner)
            # What a file manager hides is passed over.
            elif not entry.name.startswith("."):
                if not stat.S_ISREG(about.st_mode):
                    raise IrregularFile(f"{path}{entry.name}")
                yield f"{path}{entry.name}", about.st_size
