"""`spark.read.format("sluice")`: the changes of a change log as rows, for people who analyse them (Spark 4 or later).

A partition is a segment. The columns of a table are those of a history in files (`sluice.vendors.parquet`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.changelog import changed_keys
from sluice.changelog.manifest import Manifest, Segment
from sluice.changelog.schema import NO_LAYOUT
from sluice.config.configuration import Config
from sluice.connections import open_sealed, seal
from sluice.context import Context
from sluice.errors import ConfigError, LogTrimmed, SluiceError
from sluice.model.action import ROWS, Action
from sluice.model.layout import Column, Layout
from sluice.model.log_place import LogPlace
from sluice.model.names import TableName
from sluice.model.position import START, Position
from sluice.model.watched import split_table
from sluice.vendors.parquet.types import TEXT, schema_of, typed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

FORMAT = "sluice"
_WHAT = [
    ("sluice_segment", pa.int64()),
    ("sluice_ordinal", pa.int64()),
    ("sluice_key", pa.int64()),
    ("sluice_transaction", pa.string()),
    ("sluice_action", pa.string()),
]
_OLD = "sluice_old"


def register(spark: SparkSession, context: Context) -> None:
    """Let a session read changes. Its executors open the control store with the key file that those of jobs have.

    Raises:
        ConfigError: SLC-017, this Spark has no data sources in Python.
    """
    try:
        from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
    except ModuleNotFoundError:
        raise ConfigError(
            17, "this PySpark reads no data source that is written in Python", "install PySpark 4.0 or later"
        ) from None
    from pyspark.sql.pandas.types import from_arrow_schema

    # What is relative there is so to this process's home.
    config = context.config.model_copy(update={"change_log": context.config.change_log_url})
    sealed = seal({config.control: context.connection(config.control)})

    # Classes of this function are sent with what they refer to; others are looked for by their names.
    class ChangeReader(DataSourceReader):
        def __init__(self, changes: TableChanges) -> None:
            self.changes = changes

        def partitions(self) -> Sequence[InputPartition]:
            return [InputPartition(segment) for segment in self.changes.segments]

        def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
            return read_segment(_context(config, sealed), self.changes, partition.value)

    class ChangeSource(DataSource):
        @classmethod
        def name(cls) -> str:
            return FORMAT

        def schema(self) -> StructType:
            return from_arrow_schema(self._changes().schema)

        def reader(self, schema: StructType) -> DataSourceReader:
            changes = self._changes()
            if from_arrow_schema(changes.schema).simpleString() != schema.simpleString():
                raise _refusal(f"{changes.table} has other columns than when it was loaded; load it again")
            return ChangeReader(changes)

        def _changes(self) -> TableChanges:
            return find_changes(_context(config, sealed), self.options)

    spark.dataSource.register(ChangeSource)


@dataclass(frozen=True)
class TableChanges:
    """The changes of one table from a position on, up to the end that the log has now.

    Attributes:
        columns: its newest ones.
        segments: the ones to be read.
    """

    source: str
    table: TableName
    columns: tuple[Column, ...]
    after: Position
    segments: tuple[Segment, ...]

    @property
    def schema(self) -> pa.Schema:
        """The change, the new row, and the old row."""
        row = schema_of(self.columns)
        return pa.schema([*_WHAT, *row, (_OLD, pa.struct(list(row)))])


def find_changes(context: Context, options: Mapping[str, str]) -> TableChanges:
    """Find what is to be read.

    Args:
        options: `source`, `table` as schema.table, and perhaps `since`, see `sluice.model.log_place`.

    Raises:
        ConfigError: SLC-914, an option is missing, or names nothing that the log has.
        LogTrimmed: SLC-620, the log does not go back to `since` any more.
    """
    source = _option(options, "source")
    manifest, name = context.manifest(source), _option(options, "table")
    context.config.source(source)
    try:
        table = TableName(*split_table(name))
        place = LogPlace.parse(options["since"]) if "since" in options else None
    except ValueError as error:
        raise _refusal(str(error)) from None
    layouts = [layout for layout in manifest.newest_layouts() if layout.name == table]
    if not layouts:
        raise _refusal(f"the change log of {source} has no change of a table {name}")
    columns = tuple(column for column in layouts[0].columns if not column.generated)
    kept = sorted(manifest.kept_segments(), key=lambda segment: segment.number)
    if place is None:
        return TableChanges(source, table, columns, START, tuple(kept))
    try:
        after = changed_keys.position(manifest, place)
    except SluiceError as error:
        error.hint = "nothing was read; write `since` as a position (41/8), a segment (42) or a time, or leave it out"
        raise
    segments = tuple(segment for segment in kept if segment.last_ordinal > after.ordinal)
    return TableChanges(source, table, columns, after, segments)


def read_segment(context: Context, changes: TableChanges, segment: Segment) -> Iterator[pa.RecordBatch]:
    """The changes that a segment has of a table, in their order.

    Raises:
        LogTrimmed: SLC-620, it was trimmed since; SluiceError: as `SegmentFiles.read` does.
    """
    manifest, layouts = context.manifest(changes.source), dict[int, Layout]()
    begin = max(changes.after.ordinal, segment.first_ordinal - 1)
    for batch in _batches(
        context.files().read(segment.file, begin), manifest, Position(segment.number, begin), segment.end
    ):
        numbers = batch.column("layout").to_numpy()
        if unknown := set(np.unique(numbers).tolist()) - layouts.keys() - {NO_LAYOUT}:
            layouts |= manifest.layouts(unknown)
        ours = [number for number, layout in layouts.items() if layout.name == changes.table]
        of_table = pc.and_(
            pc.is_in(batch.column("layout"), pa.array(ours, pa.int64())),
            pc.is_in(batch.column("action"), pa.array(sorted(ROWS), pa.string())),
        )
        # A statement on all nodes is in the log instead of the rows that it changed, of any table.
        wanted = pc.and_(
            pc.or_(of_table, pc.equal(batch.column("action"), Action.STATEMENT)),
            pc.greater(batch.column("ordinal"), begin),
        )
        yield from _rows(changes, segment.number, batch.filter(wanted), layouts)


def _batches(
    batches: Iterator[pa.RecordBatch], manifest: Manifest, after: Position, end: Position
) -> Iterator[pa.RecordBatch]:
    try:
        yield from batches
    except SluiceError:
        # A file that goes after its segment was trimmed is no damage.
        try:
            changed_keys.expect_kept(manifest, after, end)
        except LogTrimmed as trimmed:
            trimmed.hint = "not all was read; load it again, with a later `since`"
            raise
        raise


def _rows(
    changes: TableChanges, segment: int, batch: pa.RecordBatch, layouts: Mapping[int, Layout]
) -> Iterator[pa.RecordBatch]:
    """Changes as rows; one batch for each run of changes under one layout."""
    numbers = batch.column("layout").to_numpy()
    ends = [*(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(batch)]
    begin = 0
    for end in ends if len(batch) else []:
        some, layout = batch.slice(begin, end - begin), layouts.get(int(numbers[begin]))
        what = [
            pa.repeat(pa.scalar(segment, pa.int64()), len(some)),
            *(some.column(name) for name in ("ordinal", "repl_key", "trans_key", "action")),
        ]
        new, old = (_side(changes.columns, layout, some.column(side)) for side in ("new", "old"))
        before = pa.StructArray.from_arrays(_arrays(old), fields=list(old.schema), mask=some.column("old").is_null())
        yield pa.RecordBatch.from_arrays([*what, *_arrays(new), before], schema=changes.schema)
        begin = end


def _side(columns: Sequence[Column], layout: Layout | None, images: pa.ListArray) -> pa.Table:
    """Images under the newest columns. What had another type then, or is no column any more, is among the texts."""
    there = layout.columns if layout else ()
    known = {column.name: (index, column.type) for index, column in enumerate(there) if not column.generated}
    texts = {name: pc.list_element(images, index) for name, (index, _) in known.items()}
    same = {column.name for column in columns if known.get(column.name, (0, ""))[1] == column.type}
    nothing = pa.nulls(len(images), pa.string())
    rows = typed(columns, [texts[column.name] if column.name in same else nothing for column in columns])
    others = {name: values for name, values in texts.items() if name not in same}
    if not others:
        return rows
    both = zip(rows[TEXT].to_pylist(), *(values.to_pylist() for values in others.values()), strict=True)
    merged = [
        [*(unfit or ()), *((name, text) for name, text in zip(others, row, strict=True) if text is not None)] or None
        for unfit, *row in both
    ]
    return rows.set_column(
        rows.schema.get_field_index(TEXT), rows.schema.field(TEXT), pa.array(merged, rows.schema.field(TEXT).type)
    )


def _arrays(rows: pa.Table) -> list[pa.Array]:
    return [column.combine_chunks() for column in rows.columns]


def _context(config: Config, sealed: str) -> Context:
    return Context(config, open_sealed(sealed))


def _option(options: Mapping[str, str], name: str) -> str:
    if not options.get(name):
        raise _refusal(f"the option {name!r} is missing")
    return options[name]


def _refusal(why: str) -> ConfigError:
    example = '.option("source", "flights").option("table", "public.planes").option("since", "41/8")'
    return ConfigError(
        914, f"no changes are read: {why}", f"write, for example: spark.read.format({FORMAT!r}){example}"
    )
