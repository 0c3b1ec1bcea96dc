"""Segment files: Parquet, written once, durable, hashed, never overwritten or renamed (R2)."""

from __future__ import annotations

import os
import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from sluice import paths
from sluice.changelog.schema import CHANGES, LOGGED
from sluice.changelog.segment_file import SegmentFile
from sluice.errors import SluiceError, TransientError
from sluice.log import event
from sluice.storage import private_files
from sluice.storage.files import HashingFile, flush
from sluice.storage.private_files import IrregularFile, Readable

SUFFIX = ".parquet"
ROW_GROUP = 65_536
# How a filesystem fails.
FAILURES = (OSError, pa.ArrowException)
# Values of rows seldom repeat and are not searched: dictionaries and statistics are not worth their CPU.
_FORMAT: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 1,
    "use_dictionary": ["trans_key", "layout", "action"],
    "write_statistics": ["ordinal"],
}


def expect_directory(url: str) -> Path:
    """Check that the directory of a change log exists or can be created; nothing is created. Returns the directory, or
    its nearest parent that exists.

    Raises:
        SluiceError: SLC-659, its disk is not mounted; nothing can be written there.
    """
    directory = Path(url)
    if not (directory.parent.exists() or paths.is_at_home(directory)):
        raise SluiceError(
            659,
            f"there is no {directory.parent}, so the change log {directory} has no place",
            f"no change is lost meanwhile: mount it, or, if it is to be on this disk, make it: mkdir -p "
            f"{shlex.quote(str(directory.parent))}",
        )
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK)):
        raise SluiceError(
            659, f"nothing can be written to {existing}", "fix its rights, or mount it; no change is lost"
        )
    return existing


class SegmentFiles(Protocol):
    """The files of segments: in a plain directory, or in an object store."""

    def begin(self, *, new: bool) -> None:
        """Open the directory as the log's; create it if the log is new. Raises TransientError SLC-053."""

    def write(self, name: str, batches: Iterable[pa.RecordBatch]) -> SegmentFile:
        """Make a file of `LOGGED` batches durable. Raises TransientError SLC-180 if it cannot."""

    def read(self, written: SegmentFile, after: int, schema: pa.Schema = CHANGES) -> Iterator[pa.RecordBatch]:
        """The changes of transactions beyond ordinal `after`, in order.

        Args:
            schema: `CHANGES`, or `LOGGED` for readers that need their attributes too.

        Raises:
            SluiceError: SLC-047 if the file is not as it was written.
            TransientError: SLC-053 if nothing of the log is there.
        """

    def has(self, name: str) -> bool:
        """Whether a segment of that name is there. Raises TransientError SLC-053 if that cannot be known."""

    def names(self) -> list[str]:
        """Names of all files, listed or not. Raises TransientError SLC-053 if they cannot be read."""

    def remove(self, name: str) -> None:
        """Delete a file that no slave needs any more; silently if it is gone. May raise TransientError SLC-053."""


class ParquetSegments(ABC):
    """Segments as Parquet files, wherever they are: what is hashed is what is read."""

    def read(self, written: SegmentFile, after: int, schema: pa.Schema = CHANGES) -> Iterator[pa.RecordBatch]:
        """Read the row groups that hold later ordinals, of the bytes that were hashed: a copy, made anew each time."""
        with ExitStack() as stack:
            stack.enter_context(legible(written.name))
            file = stack.enter_context(pq.ParquetFile(self._copy(written, stack)))
            columns = list(file.schema_arrow)
            if not all(field in columns for field in schema):
                raise not_as_published(written.name, "it has other columns")
            index = LOGGED.get_field_index("ordinal")
            groups = [
                number
                for number in range(file.metadata.num_row_groups)
                if file.metadata.row_group(number).column(index).statistics.max > after
            ]
            # One at a time: batches across row groups would need more memory for wide rows than the writer did.
            for group in groups:
                yield from file.iter_batches(batch_size=ROW_GROUP, row_groups=[group], columns=schema.names)

    @abstractmethod
    def names(self) -> list[str]:
        """Names of all files, listed or not. Raises TransientError SLC-053 if they cannot be read."""

    @abstractmethod
    def _open(self, name: str) -> AbstractContextManager[Readable]:
        """The bytes of a segment."""

    def _copy(self, written: SegmentFile, stack: ExitStack) -> IO[bytes]:
        """The bytes of a file, once their hash is the one that is listed."""
        try:
            source = stack.enter_context(self._open(written.name))
            copy = stack.enter_context(private_files.private_copy(source, written.bytes))
        except IrregularFile as error:
            raise not_as_published(written.name, str(error)) from None
        except FAILURES as error:
            if isinstance(error, FileNotFoundError) and self.names():
                raise not_as_published(written.name, "it is gone") from None
            raise absent(f"segment {written.name} cannot be read: {reason(error)}") from None
        if copy.size != written.bytes:
            more = "more" if copy.size > written.bytes else f"{copy.size:,}"
            raise not_as_published(written.name, f"it has {more} bytes, the manifest has {written.bytes:,}")
        if copy.sha256 != written.sha256:
            raise not_as_published(written.name, f"its SHA-256 is {copy.sha256}, the manifest has {written.sha256}")
        return copy.file


class PlainDirectory(ParquetSegments):
    """Segments as Parquet files of one directory."""

    def __init__(self, directory: str) -> None:
        self._directory = Path(directory)
        self._begun: tuple[int, int] | None = None

    def begin(self, *, new: bool) -> None:
        """Remember which directory this is: what is mounted over it later, or shows when it is gone, is another."""
        try:
            if new:
                # Elsewhere a directory whose parent is not there is on a disk that is not mounted.
                private_files.make(self._directory, parents=paths.is_at_home(self._directory))
            self._begun = self._identity()
        except OSError as error:
            raise absent(f"the change log {self._directory} cannot be reached: {error.strerror}") from None

    def write(self, name: str, batches: Iterable[pa.RecordBatch]) -> SegmentFile:
        """Write, flush to the disk the file and the directory's entry of it."""
        try:
            if self._identity() != self._begun:
                raise absent(f"{self._directory} is another directory than it was when this run began")
            file = private_files.create_file(self._path(name))
        except OSError as error:
            raise unwritable(name, self._directory, error) from None
        try:
            with file:
                written = write_rows(name, file, batches)
                file.flush()
                os.fsync(file.fileno())
            flush(self._directory)
        except OSError as error:
            self.remove(name)
            raise unwritable(name, self._directory, error) from None
        return written

    def names(self) -> list[str]:
        """Every file that is there, listed or not; also what is no regular file, and can be removed like one."""
        try:
            with os.scandir(self._directory) as entries:
                names = [entry.name for entry in entries if not entry.is_dir(follow_symlinks=False)]
                return sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise absent(f"the change log {self._directory} cannot be looked at: {error.strerror}") from None

    def has(self, name: str) -> bool:
        """Whether there is a file of that name. Raises TransientError SLC-053 if the directory cannot be read."""
        try:
            return self._path(name).is_file()
        except OSError as error:
            raise absent(f"the change log {self._directory} cannot be looked at: {error.strerror}") from None

    def remove(self, name: str) -> None:
        """Delete a file, if it exists. A failure is logged only: the log does not need the file any more."""
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as error:
            event("WARNING left behind", file=self._path(name), why=error.strerror)

    def _identity(self) -> tuple[int, int]:
        # With the slash: a file that stands in its place is no directory, whatever its number.
        status = os.stat(f"{self._directory}/")  # noqa: PTH116 - a Path drops it
        return status.st_dev, status.st_ino

    def _path(self, name: str) -> Path:
        return self._directory / f"{name}{SUFFIX}"

    def _open(self, name: str) -> IO[bytes]:
        return private_files.open_file(self._path(name))


def write_rows(name: str, file: IO[bytes], batches: Iterable[pa.RecordBatch]) -> SegmentFile:
    """Write `LOGGED` batches as Parquet to an open file."""
    hashing = HashingFile(file)
    with pq.ParquetWriter(hashing, LOGGED, **_FORMAT) as writer:
        for batch in batches:
            writer.write_batch(batch, row_group_size=ROW_GROUP)
            # Not held while the next is made.
            del batch
    return SegmentFile(name, hashing.digest.hexdigest(), hashing.size)


def unwritable(name: str, place: Path | str, error: Exception) -> TransientError:
    """The error for a segment that cannot be written: none of its changes is lost."""
    return TransientError(
        180,
        f"segment {name} cannot be written to {place}: {reason(error)}",
        "no change is lost, they wait at the source; make room, mount the directory or fix the store; the next run "
        "goes on",
    )


def reason(error: Exception) -> str:
    """Why a filesystem failed, in one line."""
    return str(error).partition("\n")[0] or type(error).__name__


def not_as_published(name: str, fact: str) -> SluiceError:
    """A segment that is not as it was written: nothing of it is applied."""
    return SluiceError(
        47,
        f"segment {name} is not as it was published: {fact}",
        "nothing of it was applied; restore the file from a backup, or run initial_update for the slaves behind it",
    )


def absent(fact: str) -> TransientError:
    """The error for a change log without any file, such as on a disk that is not mounted."""
    return TransientError(
        53,
        fact,
        "no change is lost; mount the directory or fix the filesystem, the next run goes on. See the runbook if it is "
        "lost for good",
    )


@contextmanager
def legible(name: str) -> Iterator[None]:
    """Turn errors of Arrow and of the disk into ours. An error of the disk has a number.

    Raises:
        SluiceError: SLC-047, it is no file as `write` makes them.
        TransientError: SLC-053, the disk does not let it be read.
    """
    try:
        yield
    except SluiceError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno:
            raise absent(f"segment {name} cannot be read: {error}") from None
        raise not_as_published(name, f"it cannot be read: {str(error).partition(chr(10))[0]}") from None
