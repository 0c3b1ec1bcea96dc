"""The directory of one replication: data files and small documents, each written once under a name of its own.

SLAVE/SOURCE/versions/000000000017.json     what is current: the newest, see `versions`
SLAVE/SOURCE/data/public.planes/...parquet  rows, valid only as a version lists them
SLAVE/SOURCE/loading/EPOCH/...              an initial update under way
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from sluice.connections import ConnectionInfo
from sluice.errors import AGAIN, ConfigError, SluiceError, TransientError
from sluice.model.names import Pair, TableName
from sluice.storage import private_files
from sluice.storage.files import flush

_KEEP_HOURS = 1.0
GROUP_ROWS = 65_536
# Rows that are held at a time, by readers and writers alike.
GROUP_BYTES = 32 * 1024 * 1024


# Others may read directories and files as far as the umask permits, and never write.
READABLE, READABLE_FILE = 0o755, 0o644


@contextmanager
def reachable(doing: str) -> Iterator[None]:
    """Turn an error of the filesystem into one of ours that passes, and that of a damaged file into one that does not.

    Raises:
        TransientError: SLC-180.
        SluiceError: SLC-159.
    """
    try:
        yield
    except (OSError, ValueError) as error:
        # What reads Parquet says so as well if a file does not hold what it should; no call of the system failed then.
        if not isinstance(error, OSError) or error.errno is None:
            raise SluiceError(
                159,
                f"{doing}: a file is not as it was written: {error}",
                "restore it from a backup, or make everything anew by initial_update",
            ) from None
        raise TransientError(
            180,
            f"{doing}: {error.strerror}: {error.filename or ''}".rstrip(": "),
            f"mount the directory, fix its rights or make room; nothing is lost, {AGAIN}",
        ) from None


@dataclass(frozen=True)
class DataFile:
    """A data file: its path below the replication's directory."""

    path: str
    rows: int
    bytes: int


@dataclass(frozen=True)
class ReplicationDirectory:
    """The directory of one replication.

    Attributes:
        keep_hours: how long that stays which is current no more.
    """

    root: Path
    keep_hours: float = 0

    @property
    def versions(self) -> Path:
        """The directory of versions."""
        return self.root / "versions"

    def loading(self, epoch: int) -> Path:
        """The directory of an initial update."""
        return self.root / "loading" / str(epoch)

    def make(self) -> None:
        """Make the directories. Raises FileNotFoundError if the slave's own is not there: perhaps it is not mounted."""
        ensure(self.root.parent, self.root, self.versions, self.root / "data", self.root / "loading")

    def path(self, file: DataFile) -> Path:
        """The path of a data file. Raises ValueError if it was changed or deleted while the directory exists."""
        path = self.root / file.path
        try:
            found = path.lstat()
        except FileNotFoundError:
            if self.versions.is_dir():
                raise ValueError(f"{path} is gone") from None
            raise
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(f"{path} is no regular file")
        if found.st_size != file.bytes:
            raise ValueError(f"{path} has {found.st_size} bytes, and had {file.bytes}")
        return path

    def names(self) -> Iterator[Path]:
        """Every data file that is there, listed or not."""
        return (self.root / "data").glob("*/*.parquet")

    def folder(self, table: TableName) -> Path:
        """The directory of a table's data files."""
        return self.root / "data" / ".".join(quote(part, safe="") for part in (table.schema, table.table))

    def writer(self, table: TableName, epoch: int, schema: pa.Schema) -> DataFileWriter:
        """A new data file of a table, with a unique name."""
        folder = self.folder(table)
        ensure(folder)
        return DataFileWriter(self.root, folder / f"{epoch}-{uuid4().hex}.parquet", schema)


class DataFileWriter:
    """A data file that is being written, in groups of rows of a bounded size; nothing is left of one that fails.

    Attributes:
        file: what became of it, known at the end.
    """

    file: DataFile

    def __init__(self, root: Path, path: Path, schema: pa.Schema) -> None:
        self._root = root
        self._path = path
        self._rows = 0
        self._buffered: list[pa.Table] = []
        self._disk = private_files.create_file(path, mode=READABLE_FILE)
        # Of a byte that changed on the disk zstd may make another value.
        self._writer = pq.ParquetWriter(
            self._disk, schema, compression="zstd", compression_level=1, write_page_checksum=True
        )

    def __enter__(self) -> DataFileWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def write(self, rows: pa.Table) -> None:
        """Add rows."""
        most = max(1, min(GROUP_ROWS, GROUP_BYTES * len(rows) // max(rows.nbytes, 1)))
        for begin in range(0, len(rows), most):
            self._buffered.append(rows.slice(begin, most))
            if sum(map(len, self._buffered)) >= GROUP_ROWS or sum(one.nbytes for one in self._buffered) >= GROUP_BYTES:
                self._group()

    def close(self) -> None:
        """End the file and flush it to the disk, with its directory's entry of it."""
        self._group()
        self._writer.close()
        self._disk.flush()
        os.fsync(self._disk.fileno())
        self._disk.close()
        flush(self._path.parent)
        self.file = DataFile(str(self._path.relative_to(self._root)), self._rows, self._path.stat().st_size)

    def discard(self) -> None:
        """Leave nothing behind."""
        # The library would end the file when it is forgotten, and complain.
        with suppress(OSError, ValueError):
            self._writer.close()
        self._disk.close()
        self._path.unlink(missing_ok=True)

    def _group(self) -> None:
        if self._buffered:
            rows = pa.concat_tables(self._buffered)
            self._writer.write_table(rows, row_group_size=len(rows))
            self._rows += len(rows)
            self._buffered.clear()


def replication_directory(info: ConnectionInfo, pair: Pair) -> ReplicationDirectory:
    """The directory that a connection names, and in it that of the replication.

    Raises:
        ConfigError: SLC-017, it names none.
    """
    named = str(info.extra.get("path") or info.host).removeprefix("file://")
    try:
        hours = float(info.extra.get("keep_hours", _KEEP_HOURS))
    except ValueError:
        hours = -1
    # A reader that takes a path for a URL would end at these.
    if not named.startswith("/") or set("#?") & set(named) or hours < 0:
        raise ConfigError(
            17,
            f"the connection of slave {pair.slave} names no directory by its whole path, or no number of hours: "
            f"{named or 'nothing'}, {info.extra.get('keep_hours', _KEEP_HOURS)}",
            "set `path` in its extra to a directory that every machine sees under this name, and `keep_hours`",
        )
    return ReplicationDirectory(Path(named) / pair.slave / pair.source, hours)


def create(path: Path, text: str) -> bool:
    """Write a new document under an unused name: whole and flushed, or not at all.

    Returns:
        whether it was free.
    """
    with _draft(path, text) as draft:
        try:
            os.link(draft, path)
        except FileExistsError:
            return False
        flush(path.parent)
        return True


def put(path: Path, text: str) -> None:
    """Write a document in the place of the one that bears the name: readers find one of the two, whole."""
    with _draft(path, text) as draft:
        draft.replace(path)
        flush(path.parent)


def ensure(*directories: Path) -> None:
    """Make directories. Raises FileNotFoundError if what one of them is to be in is not there."""
    for directory in directories:
        if not directory.is_dir():
            directory.mkdir(mode=READABLE, exist_ok=True)
            flush(directory.parent)


@contextmanager
def _draft(path: Path, text: str) -> Iterator[Path]:
    draft = path.with_name(f".{uuid4().hex}")
    try:
        with private_files.create_file(draft, mode=READABLE_FILE) as file:
            file.write(text.encode())
        flush(draft)
        yield draft
    finally:
        draft.unlink(missing_ok=True)
