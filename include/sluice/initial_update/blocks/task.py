"""A block of a key range on its way: out of the snapshot of a point, into a slave that stands at it (R10)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace

from sluice.apply.mapping.table_view import shape_lines, view
from sluice.connections import ConnectionInfo, find_salt, open_sealed
from sluice.errors import SluiceError, TransientError
from sluice.library_errors import name_table
from sluice.vendors.protocol.load import Reading
from sluice.vendors.protocol.read import KeyRange
from sluice.vendors.protocol.tasks import BlockJob, BlockLoaded
from sluice.vendors.registry import master, online


def load_block(job: BlockJob, number: int) -> BlockLoaded:
    """Load the next block of one of the job's ranges, given by its index."""
    within, connections, origin = job.ranges[number], open_sealed(job.sealed), job.origin
    try:
        with (
            name_table(within.table),
            master(origin.vendor).read(connections[origin.connection], origin.snapshot_id, origin.trusted) as reading,
        ):
            try:
                return _load(job, within, reading, connections, at_once=True)
            except TransientError:
                raise
            except SluiceError:
                # What makes or alters its table may be on its way to the slave; at the point it is there.
                return _load(job, within, reading, connections, at_once=False)
    except SluiceError as error:
        return BlockLoaded(0, error)


def _load(
    job: BlockJob, within: KeyRange, reading: Reading, connections: Mapping[str, ConnectionInfo], *, at_once: bool
) -> BlockLoaded:
    """Bring the rows to the slave, `at_once` or when it is at the point; there put them in."""
    with closing(online(job.slave.vendor).receive(connections[job.slave.connection], job)) as receiver:
        if not at_once:
            receiver.await_point()
        layout = reading.shape(within)
        if layout is None or job.mapper.excludes(layout.name):
            # The slave has, or gets, its DROP by the stream.
            receiver.begin(within, None)
            return BlockLoaded(receiver.end(None))
        # A table that was renamed is so on a slave at the point, too.
        within, table_view = replace(within, table=layout.name), view(job.mapper, layout)
        shape = table_view.shape(find_salt(connections, job.slave.salt)) if table_view.is_shaped else None
        rows, last = reading.block(within, table_view.read_columns, job.rows)
        receiver.begin(within, table_view)
        for buffer in rows:
            receiver.write(shape_lines(table_view, shape, buffer, table_view.written_columns)[0] if shape else buffer)
        return BlockLoaded(receiver.end(last))
