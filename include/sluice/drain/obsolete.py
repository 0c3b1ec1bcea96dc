"""Transactions that the first load of a slave has seen already: its stream goes on without them (R5)."""

from __future__ import annotations

from dataclasses import replace

from sluice.arrow_rows import kept
from sluice.drain.batches import Batch
from sluice.vendors.protocol.visibility import Visibility


def without_obsolete(batch: Batch, seen: Visibility | None) -> Batch:
    """The batch without transactions that a snapshot shows; it ends where it did."""
    if seen is None:
        return batch
    return replace(batch, changes=kept(batch.changes, seen.are_newer(batch.changes["trans_key"])))
