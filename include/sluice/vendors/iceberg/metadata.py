"""The metadata of one table in Iceberg's layout of a directory, which needs no catalog server.

iceberg/public/planes/metadata/v17.metadata.json    what is current: the largest number
iceberg/public/planes/metadata/version-hint.text    that number, for readers who do not look for it
iceberg/public/planes/metadata/*.avro               which files a snapshot has

A commit is the exclusive creation of the next number, as a version's is.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import ENOENT
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, unquote

from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.io import FileIO, load_file_io
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.table import CommitTableResponse, Table, TableProperties
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil, new_table_metadata
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.table.update import RemoveSnapshotsUpdate, TableRequirement, TableUpdate, update_table_metadata

from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.storage.files import flush
from sluice.vendors.parquet.directory import ReplicationDirectory, create, ensure, put

_ENDING = ".metadata.json"
_HINT = "version-hint.text"
# What is current of a table that is gone, and the number of the version in which it was no more.
_GONE = "gone-"
_COMMIT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def uri(path: Path) -> str:
    """The URI of a file, as Iceberg's metadata has it."""
    return f"file://{path}"


def kept(directory: ReplicationDirectory) -> Iterator[TableName]:
    """The tables of which there is anything."""
    for found in (directory.root / "iceberg").glob("*/*/metadata"):
        yield TableName(*(unquote(part) for part in found.parts[-3:-1]))


class Metadata(NoopCatalog):
    """The metadata directory of one table, as a catalog that can only commit there.

    Attributes:
        location: the table's directory, as Iceberg's readers name it.
        files: how the library reads and writes.
    """

    def __init__(self, directory: ReplicationDirectory, table: TableName) -> None:
        super().__init__(str(table))
        self._table = table
        # A dot would hide a directory from Hadoop, or lead out of it.
        parts = [quote(part, safe="").replace(".", "%2E") for part in (table.schema, table.table)]
        self._home = directory.root / "iceberg" / parts[0] / parts[1]
        self._directory = self._home / "metadata"
        self._number = 0
        self._whole: TableMetadata | None = None
        self.location = uri(self._home)
        self.files: FileIO = load_file_io({}, self.location)

    def current(self) -> Table | None:
        """The table as it is now; None if there is none, or if it lies in a directory of before.

        It is without its older snapshots: the library copies all that a table has dozens of times for each commit.
        """
        while numbers := self._numbers():
            self._number = numbers[-1]
            path = self._path(self._number)
            try:
                text = path.read_text(encoding="utf-8")
            except FileNotFoundError:
                # A newer one has come meanwhile.
                continue
            self._point()
            with self.readable():
                self._whole = whole = TableMetadataUtil.parse_raw(text)
            newest = [snapshot for snapshot in whole.snapshots if snapshot.snapshot_id == whole.current_snapshot_id]
            part = whole.model_copy(update={"snapshots": newest, "snapshot_log": [], "metadata_log": []})
            return self._opened(part, uri(path)) if whole.location == self.location else None
        return None

    def anew(self) -> Table:
        """A table without columns and rows, which takes the place of what is current when it is committed."""
        # Who failed looks again at what is there, which the library does not know how to do.
        properties = {TableProperties.COMMIT_NUM_RETRIES: "0", TableProperties.MANIFEST_MERGE_ENABLED: "true"}
        spec, order = UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER
        return self._opened(new_table_metadata(Schema(), spec, order, self.location, properties), "")

    def make(self) -> None:
        """Make the directories. Raises FileNotFoundError if that of the replication is not there."""
        ensure(*reversed(self._home.parents[:2]), self._home, self._directory)

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        """Make what is current of a table that was opened here, if nothing became so since.

        Raises:
            CommitFailedException: something did.
        """
        before = self._whole if self._whole and table.metadata_location else table.metadata
        metadata = update_table_metadata(before, updates, metadata_location=table.metadata_location)
        self._flush(metadata)
        number = self._number + 1
        # The number of one who slept for long may be free again, since old ones are removed.
        if not create(self._path(number), metadata.model_dump_json()) or self._numbers()[-1] != number:
            raise CommitFailedException(f"{self._table} has a newer state than {self._number}")
        self._number = number
        self._point()
        return CommitTableResponse.model_construct(metadata=metadata, metadata_location=uri(self._path(number)))

    def forget(self, old: Callable[[Snapshot], bool]) -> None:
        """Forget the snapshots that were replaced by such a one, and remove what only they had.

        Raises:
            CommitFailedException: somebody else is at work.
        """
        table = self.current()
        if table is None or self._whole is None:
            return
        gone = [before.snapshot_id for before, after in pairwise(self._whole.snapshots) if old(after)]
        if gone:
            left = self.commit_table(table, (), (RemoveSnapshotsUpdate.model_construct(snapshot_ids=gone),))
            self._sweep(left.metadata.snapshots, left.metadata_location)

    def drop(self, version: int) -> None:
        """Hide the current metadata. Readers that have it go on until it is deleted by `forget`."""
        (self._directory / _HINT).unlink(missing_ok=True)
        for number in (one for one in self._numbers() if one < self._number):
            self._path(number).unlink(missing_ok=True)
        # Somebody else may have done it.
        with suppress(FileNotFoundError):
            self._path(self._number).rename(self._directory / f"{_GONE}{version}")
        flush(self._directory)

    def forget_dropped(self, oldest: int) -> None:
        """Remove what is left of a table, if there is none, and none was in any version since that one."""
        gone = [int(path.name.removeprefix(_GONE)) for path in self._directory.glob(f"{_GONE}*")]
        if gone and max(gone) <= oldest and not self._numbers():
            shutil.rmtree(self._home, ignore_errors=True)

    def _sweep(self, snapshots: list[Snapshot], current: str) -> None:
        """Remove what is not in the oldest snapshot and was not written for a later one; nothing that is new."""
        oldest = snapshots[0]
        kept = {current, uri(self._directory / _HINT)}
        kept.update(manifest.manifest_path for manifest in oldest.manifests(self.files))
        commits = {_commit(snapshot.manifest_list) for snapshot in snapshots}
        since = _path(oldest.manifest_list).stat().st_mtime
        for file in self._directory.iterdir():
            if uri(file) not in kept and _commit(file.name) not in commits and file.stat().st_mtime < since:
                file.unlink(missing_ok=True)

    @contextmanager
    def readable(self) -> Iterator[None]:
        """Turn what says that metadata is not as it was written into an error of ours, which names the remedy.

        Raises:
            SluiceError: SLC-199.
        """
        try:
            yield
        except SluiceError:
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno not in (None, ENOENT):
                raise
            raise SluiceError(
                199,
                f"Iceberg's metadata of {self._table} is not as it was written: {error}",
                f"remove {self._home}: the next run makes it anew out of the files, without older snapshots",
            ) from None

    def _opened(self, metadata: TableMetadata, location: str) -> Table:
        return Table((self._table.schema, self._table.table), metadata, location, self.files, self)

    def _flush(self, metadata: TableMetadata) -> None:
        """Flush the files that a commit refers to before the commit."""
        if snapshot := metadata.current_snapshot():
            ours = [one for one in snapshot.manifests(self.files) if one.added_snapshot_id == snapshot.snapshot_id]
            for path in (snapshot.manifest_list, *(manifest.manifest_path for manifest in ours)):
                flush(_path(path))
            flush(self._directory)

    def _point(self) -> None:
        hint = self._directory / _HINT
        if not hint.exists() or hint.read_text(encoding="utf-8") != str(self._number):
            put(hint, str(self._number))

    def _numbers(self) -> list[int]:
        found = self._directory.glob(f"v*{_ENDING}") if self._directory.is_dir() else ()
        names = (path.name.removeprefix("v").removesuffix(_ENDING) for path in found)
        return sorted(int(name) for name in names if name.isdecimal())

    def _path(self, number: int) -> Path:
        return self._directory / f"v{number}{_ENDING}"


def _commit(name: str) -> str | None:
    """The commit that a list was written for: the library names all lists of one by it."""
    found = _COMMIT.search(name)
    return found and found[0]


def _path(location: str) -> Path:
    return Path(location.removeprefix("file://"))
