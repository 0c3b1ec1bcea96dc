"""Transactions that the first load of a slave has seen already: its stream goes on without them (R5)."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from sluice.arrow_rows import kept
from sluice.drain.batches import Batch
from sluice.model.position import Snapshot


def without_obsolete(batch: Batch, snapshot: Snapshot | None) -> Batch:
    """The batch without transactions that are visible in a snapshot; it ends where it did."""
    if snapshot is None:
        return batch
    return replace(batch, changes=kept(batch.changes, are_newer(batch.changes, snapshot)))


def are_newer(changes: pa.Table, snapshot: Snapshot) -> pa.ChunkedArray:
    """Which changes are exactly those that are not visible in the snapshot (R5)."""
    low, high, running = snapshot.parts()
    xids = changes["trans_key"].cast(pa.int64())
    return pc.or_(
        pc.greater_equal(xids, high),
        pc.and_(pc.greater_equal(xids, low), pc.is_in(xids, value_set=pa.array(sorted(running), pa.int64()))),
    )
