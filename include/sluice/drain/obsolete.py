"""Leave out transactions that a slave has already.

Its first load saw them (R5); or, where DDL commits, it took them before a command on which it stopped.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow.compute as pc

from sluice.arrow_rows import filter_rows
from sluice.drain.batches import Batch
from sluice.model.position import PartWay
from sluice.vendors.protocol.visibility import Visibility


def without_obsolete(batch: Batch, seen: Visibility | None) -> Batch:
    """The batch without transactions that a snapshot shows. Its end stays."""
    if seen is None:
        return batch
    return replace(batch, changes=filter_rows(batch.changes, seen.are_newer(batch.changes["trans_key"])))


def without_part(batch: Batch, place: PartWay | None) -> Batch:
    """The batch without changes that come before a place. Its end stays."""
    if place is None:
        return batch
    ordinals, keys = batch.changes["ordinal"], batch.changes["repl_key"]
    within = pc.and_(pc.equal(ordinals, place.ordinal), pc.greater_equal(keys, place.key))
    return replace(batch, changes=filter_rows(batch.changes, pc.or_(pc.greater(ordinals, place.ordinal), within)))
