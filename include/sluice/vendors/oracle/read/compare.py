"""A slave at a point of the stream, and the comparison of a table with its master's there (R10).

A position is moved in the transaction of the data (R3). So as of a change number at which the position is that of the
point, the slave's tables are what they are at the point, whatever is written to them meanwhile. Every task reads as of
that number, nothing is locked for it, and the stream goes on. With a command of the master that was begun a slave is at
no point.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager

import pyarrow as pa

from sluice.changelog.points import PointWait
from sluice.connections import ConnectionInfo, open_sealed
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.vendors.oracle import fence
from sluice.vendors.oracle.capture.queue.sweep import newest_scn
from sluice.vendors.oracle.catalog.slave_tables import SlaveTable, existing, no_table
from sluice.vendors.oracle.errors import translated
from sluice.vendors.oracle.names import composed
from sluice.vendors.oracle.read.rows import batch_size
from sluice.vendors.oracle.read.slave_rows import canonical_texts, selecting
from sluice.vendors.oracle.session import connect, execute
from sluice.vendors.protocol.compare import Comparison
from sluice.vendors.protocol.digests import Texts
from sluice.vendors.text_compare import compare_texts
from sluice.verify.difference import Difference

_LOOK_S = 0.2


@contextmanager
def aligned(
    info: ConnectionInfo, parts: Mapping[str, str], pair: Pair, at: Position, patience_s: float
) -> Iterator[str]:
    """Wait for a slave to be at a point; the id is a change number at which it is exactly there."""
    waiting = PointWait(pair, at, patience_s)
    names = {"source": pair.source, "slave": pair.slave}
    with translated(f"waiting for {pair.slave}"), closing(connect(info, f"verify {pair}")) as session:
        while True:
            scn = newest_scn(session)
            rows = execute(session, composed("compare/position", **parts), {**names, "scn": scn})
            begun = bool(rows) and fence.has_begun(session, parts, pair, {"scn": scn})
            if waiting.has_arrived(int(rows[0][0]) if rows else 0, part_way=begun):
                break
            time.sleep(_LOOK_S)
    yield str(scn)


def compare_table(job: Comparison) -> Difference:
    """Compare one table, streaming both sides.

    Raises:
        TransientError: SLC-482, SLC-095, the server does not show the rows as they were any more.
        SluiceError: SLC-070, SLC-073, the slave's table is not there, or unfit; or one side cannot be read.
    """
    info = open_sealed(job.sealed)[job.replica.connection]
    with translated(f"comparing {job.view.master.name}"), closing(connect(info, f"verify {job.slave}")) as session:
        table = existing(session, job.view.layout)
    if table is None:
        raise no_table(job.view.layout.name)
    return compare_texts(job, table.names, table.key, lambda: _replica(job, info, table))


def _replica(job: Comparison, info: ConnectionInfo, table: SlaveTable) -> Texts:
    statement, scn = selecting(table), int(job.replica.snapshot_id)
    size = batch_size(any(one.is_long for one in table.columns))
    with translated(f"comparing {table.name}"), closing(connect(info, f"verify {job.slave}")) as session:
        for frame in session.fetch_df_batches(statement, {"scn": scn}, size=size):
            rows = pa.table(frame)
            if rows.num_rows:
                yield canonical_texts(table.columns, rows)
