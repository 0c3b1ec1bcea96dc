"""Replays changes between the first and the last snapshot of an initial update for tables with rows of both (R5).

Such a table has a key, and each change of a key has the whole new row. So the age of a row does not matter: after the
last change that is visible in the last snapshot, all rows are as in that snapshot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sluice.arrow_rows import filter_rows
from sluice.changelog.manifest import Manifest, Segment
from sluice.changelog.schema import are_commands
from sluice.changelog.segment_files import SegmentFiles
from sluice.drain.batches import read_batches
from sluice.drain.obsolete import without_obsolete
from sluice.drain.parsed_ddl import ParsedDdl
from sluice.drain.pipeline import BatchPipeline
from sluice.drain.plan import steps
from sluice.drain.slave_view import layouts_of
from sluice.errors import SluiceError
from sluice.model.action import Action
from sluice.model.names import TableName
from sluice.model.position import Position, Snapshot
from sluice.vendors.protocol.slave import SlaveDatabase
from sluice.vendors.protocol.visibility import ReadSnapshot


@dataclass(frozen=True)
class Overlap:
    """Tables with rows of several snapshots, and the range of the log between the first and the last snapshot.

    Attributes:
        begin: an end of the log from before the first snapshot.
        end: the position from which on the log has all that the last snapshot shows; None if unknown.
    """

    tables: frozenset[TableName]
    begin: Position
    first: Snapshot
    last: Snapshot
    end: Position | None = None


def deliver(
    slave: SlaveDatabase,
    manifest: Manifest,
    files: SegmentFiles,
    read_snapshot: ReadSnapshot,
    overlap: Overlap,
    size: int,
    salt: bytes = b"",
) -> int:
    """Apply, in order, the changes that the last snapshot shows and the first one does not. Return their number.

    The slave's position advances, so that an older process is refused. A retry begins again, which is harmless. Other
    tables have these changes already.

    Raises:
        SluiceError: SLC-079, a command of that time may have changed rows, and says nothing of them; SLC-042, the log
            was trimmed.
    """
    pipeline = BatchPipeline(slave, manifest, files, salt)
    count = 0
    segments = manifest.ahead(slave.pair.slave, overlap.begin, beyond=True)
    for changes, end in changes_of(manifest, files, segments, read_snapshot, overlap, size):
        count += len(changes)
        slave.apply(steps(*pipeline.see(changes, ParsedDdl())), end)
    return count


def changes_of(
    manifest: Manifest,
    files: SegmentFiles,
    segments: list[Segment],
    read_snapshot: ReadSnapshot,
    overlap: Overlap,
    size: int,
) -> Iterator[tuple[pa.Table, Position]]:
    """The changes to apply, in batches, each with its end in the log. Raises SluiceError SLC-079."""
    until = overlap.end.ordinal if overlap.end else None
    first, last = read_snapshot(overlap.first), read_snapshot(overlap.last)
    for batch in read_batches(files, segments, overlap.begin, size, until=until):
        between = without_obsolete(batch, first).changes
        shown = filter_rows(between, pc.invert(last.are_newer(between["trans_key"])))
        yield _changes_of_tables(manifest, shown, overlap.tables), batch.end


def _changes_of_tables(manifest: Manifest, changes: pa.Table, tables: Collection[TableName]) -> pa.Table:
    """The changes of these tables."""
    numbers = changes["layout"]
    layouts = manifest.layouts(layouts_of(changes))
    ours = pa.array([number for number, layout in layouts.items() if layout.name in tables], numbers.type)
    statements = pc.equal(changes["action"], Action.STATEMENT)
    changes = filter_rows(changes, pc.or_(statements, pc.is_in(numbers, value_set=ours)))
    if pc.any(are_commands(changes["action"])).as_py():
        raise SluiceError(
            79,
            "since this update was begun a statement was issued, or a table of it was altered and put back, and nobody "
            "knows what that did to which rows",
            "trigger initial_update again, without `resume`: it begins anew",
        )
    return changes
