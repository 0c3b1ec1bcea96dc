"""A replication's tables as Iceberg has them: what a version lists, no more and no less.

Files are told as they are. They bear no numbers of columns, so Iceberg finds columns by their names. A table follows
its files: while some of them stay it gets columns and wider types. When all were replaced by files with other columns
it follows what was altered, so that a column that was renamed keeps its number, and its old name in older snapshots;
where that cannot be, it begins anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.exceptions import CommitFailedException, ValidationError
from pyiceberg.io.pyarrow import parquet_files_to_data_files
from pyiceberg.manifest import ManifestFile
from pyiceberg.schema import Schema
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table import TableProperties, Transaction
from pyiceberg.table.snapshots import Operation, Snapshot
from pyiceberg.table.update.snapshot import _OverwriteFiles

from sluice.crash import CrashPoint, crash_if_asked
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.vendors.iceberg.metadata import Metadata, kept, uri
from sluice.vendors.parquet.ddl.schema_change import Alteration
from sluice.vendors.parquet.directory import ReplicationDirectory
from sluice.vendors.parquet.types import TEXT, schema_of
from sluice.vendors.parquet.versions import Table, Version
from sluice.vendors.parquet.write.mode import MODES

# In the summary of each snapshot: where it comes from.
_VERSION, _EPOCH, _POSITION = "sluice.version", "sluice.epoch", "sluice.position"


class IcebergTables:
    """The tables of one replication in Iceberg's metadata, and the versions of them that this process committed."""

    def __init__(self, directory: ReplicationDirectory) -> None:
        self._directory = directory
        self._committed: dict[TableName, Table] = {}
        self._looked = False

    def commit(self, version: Version) -> bool:
        """Let Iceberg list what a version lists. Returns whether it did not yet."""
        changed = False
        for name, table in version.tables.items():
            if self._committed.get(name) != table:
                changed |= self._commit_table(version, table)
                self._committed[name] = table
        # A directory without versions says nothing of what there was.
        if version.snapshot and not (self._looked and self._committed.keys() == version.tables.keys()):
            for name in set(kept(self._directory)) - version.tables.keys():
                changed |= self._drop(version, name)
                self._committed.pop(name, None)
            self._looked = True
        return changed

    def admit(self, name: TableName, columns: pa.Schema, *, beside: TableName | None) -> None:
        """Look whether a table may have these columns, and those of one that is there, beside whose rows they are to
        stand.

        Raises:
            SluiceError: SLC-432, it may not.
        """
        found = Metadata(self._directory, beside).current() if beside else None
        _shaped(found or Metadata(self._directory, name).anew(), [columns])

    def expire(self, oldest: int) -> None:
        """Forget what only versions before that one had."""
        for name in kept(self._directory):
            metadata = Metadata(self._directory, name)
            if name not in self._committed:
                metadata.forget_dropped(oldest)
                continue
            # Somebody else is at work there if it fails, who forgets them as well.
            with suppress(CommitFailedException):
                metadata.forget(lambda after: _property(after, _VERSION) <= oldest)

    def _drop(self, version: Version, name: TableName) -> bool:
        """Drop a table that no version has any more; not tables of others, nor those of a job with a later epoch."""
        metadata = Metadata(self._directory, name)
        found = metadata.current()
        if found is None or not 0 < _property(found.current_snapshot(), _EPOCH) <= version.epoch:
            return False
        crash_if_asked(CrashPoint.COMMITTED)
        metadata.drop(version.number)
        return True

    def _commit_table(self, version: Version, table: Table) -> bool:
        metadata = Metadata(self._directory, table.name)
        while True:
            # A commit that was overtaken looks again at the table.
            with suppress(CommitFailedException):
                found = metadata.current()
                change = self._change(metadata, found, version, table)
                if change:
                    crash_if_asked(CrashPoint.COMMITTED)
                    change.commit_transaction()
                return change is not None

    def _change(
        self, metadata: Metadata, found: IcebergTable | None, version: Version, table: Table
    ) -> Transaction | None:
        """A transaction that makes a table list exactly these files; None if it does, or if a later epoch committed."""
        if found and _property(found.current_snapshot(), _EPOCH) > version.epoch:
            return None
        with metadata.readable():
            listed = {task.file.file_path: task.file for task in found.scan().plan_files()} if found else {}
        wanted = {uri(self._directory.root / file.path): file for file in table.files}
        added = [path for path in wanted if path not in listed]
        schemas = [pq.read_schema(self._directory.path(wanted[path])) for path in added]
        schemas = list(dict.fromkeys([*schemas, MODES[version.keeps].schema(table.kept)]))
        change = _shaped(metadata.anew(), schemas)
        had = _columns(found.schema()) if found else {}
        if found and (listed.keys() & wanted.keys() or had == _columns(change.table_metadata.schema())):
            change = _shaped(found, schemas)
            if listed.keys() == wanted.keys() and had == _columns(change.table_metadata.schema()):
                return None
        elif found and (followed := _followed(found, version, table, schemas)):
            change = followed
        else:
            listed = {}
        metadata.make()
        state = {_VERSION: version.number, _EPOCH: version.epoch, _POSITION: version.position}
        properties = {name: str(value) for name, value in state.items()}
        gone = [file for path, file in listed.items() if path not in wanted]
        replaced = _Replaced(Operation.OVERWRITE, change, metadata.files, snapshot_properties=properties)
        added_alone = change.update_snapshot(properties).merge_append()
        with metadata.readable(), replaced if gone else added_alone as snapshot:
            for file in gone:
                snapshot.delete_data_file(file)
            for file in parquet_files_to_data_files(metadata.files, change.table_metadata, iter(added)):
                snapshot.append_data_file(file)
        return change


class _Replaced(_OverwriteFiles):
    """Some files in the place of others. The library would keep lists for ever of whose files none is left."""

    def _existing_manifests(self) -> list[ManifestFile]:
        found = super()._existing_manifests()
        return [one for one in found if one.has_added_files() or one.has_existing_files()]


def _followed(found: IcebergTable, version: Version, table: Table, schemas: Sequence[pa.Schema]) -> Transaction | None:
    """A transaction that gives a table exactly the columns of these schemas, by the alterations since its last commit;
    None if they do not lead there.
    """
    since = _property(found.current_snapshot(), _POSITION)
    altered = [one for one in table.altered if one.moment[1] > since]
    if MODES[version.keeps].lasting or not altered:
        return None
    # Readers of older snapshots would not find a column by a name that is another one's now.
    with suppress(SluiceError):
        change = _shaped(found, schemas, altered)
        if _columns(change.table_metadata.schema()).keys() == set(schemas[-1].names):
            return change
    return None


def _shaped(table: IcebergTable, schemas: Iterable[pa.Schema], altered: Iterable[Alteration] = ()) -> Transaction:
    """A change of a table that gives it the columns of these schemas besides its own, altered so before.

    Raises:
        SluiceError: SLC-432, they cannot stand in one table, or a name is none for Iceberg, or is another column's.
    """
    change = table.transaction()
    try:
        for one in altered:
            _alter(change, one)
        every = [_columns(change.table_metadata.schema())]
        for schema in schemas:
            with change.update_schema() as update:
                update.union_by_name(schema)
            every.append({field.name: field.type for field in schema})
    except (ValidationError, ValueError) as error:
        raise _unfit(table, str(error)) from None
    merged = change.table_metadata.schema()
    columns = _columns(merged)
    # The library takes some for wider that are not.
    for name, kind in ((name, kind) for some in every for name, kind in some.items()):
        if not _holds(columns[name], kind):
            raise _unfit(table, f"{name} is {kind} and {columns[name]}")
    # The library adds to it what columns are called later, and keeps what they were called.
    if TableProperties.DEFAULT_NAME_MAPPING not in change.table_metadata.properties:
        change.set_properties({TableProperties.DEFAULT_NAME_MAPPING: merged.name_mapping.model_dump_json()})
    return change


def _alter(change: Transaction, one: Alteration) -> None:
    """Columns that go, are renamed, and come. Raises ValueError if a name has been another column's."""
    metadata = change.table_metadata
    numbers = {field.name: field.field_id for field in metadata.schema().fields}
    mapping = metadata.name_mapping()
    borne = {name: field.field_id for field in mapping or () for name in field.names}
    for column in one.columns:
        number = numbers.get(one.names.get(column.name, ""))
        if borne.get(column.name, number) != number:
            raise ValueError(f"{column.name} is another column now")
    with change.update_schema() as update:
        for name in numbers.keys() - {*one.names.values(), TEXT}:
            update.delete_column(name)
        for new, old in one.names.items():
            if new != old:
                update.rename_column(old, new)
    with change.update_schema() as update:
        update.union_by_name(schema_of(one.columns))


def _columns(schema: Schema) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in schema.as_arrow()}


def _holds(wide: pa.DataType, narrow: pa.DataType) -> bool:
    """Whether every value of a column's type is one of the other as well. What is nested has the row's columns."""
    if pa.types.is_decimal(wide) and pa.types.is_decimal(narrow):
        return bool(wide.scale == narrow.scale and wide.precision >= narrow.precision)
    for alike in (pa.types.is_integer, pa.types.is_floating):
        if alike(wide) and alike(narrow):
            return bool(wide.bit_width >= narrow.bit_width)
    # How long a text of Arrow may be is nothing that Iceberg knows.
    return bool(pa.types.is_nested(narrow)) or str(wide).removeprefix("large_") == str(narrow).removeprefix("large_")


def _property(snapshot: Snapshot | None, name: str) -> int:
    """One of our numbers in a snapshot's summary (for a position the ordinal); 0 if the snapshot is not ours."""
    found = snapshot.summary.additional_properties.get(name) if snapshot and snapshot.summary else None
    return int((found or "0").rpartition("/")[2])


def _unfit(table: IcebergTable, why: str) -> SluiceError:
    return SluiceError(
        432,
        f"Iceberg cannot keep {'.'.join(table.name())} with these columns: {why}",
        "let the slave call the column otherwise (`slaves.<name>.tables`), or leave it out, or use `vendor: parquet`",
    )
