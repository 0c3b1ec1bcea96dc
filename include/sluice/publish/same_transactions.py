"""Tells whether a server has transactions of the change log, by their changes. A server that took the place of another
reuses xids and keys of transactions that it lost.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable

import pyarrow as pa

_COLUMNS = ["layout", "action", "new", "old", "attributes", "description"]


def fingerprints(changes: Iterable[pa.RecordBatch], among: Collection[str] | None = None) -> dict[str, str]:
    """A hash of the changes of each transaction, in their order, by its `trans_key`.

    Args:
        changes: with the columns of `sluice.changelog.schema.LOGGED`, but for the ordinal. Of keys nothing is looked
            at: they tell where in a reading of the server's log a change stood.
        among: the transactions that are looked at; None for all.
    """
    hashes: defaultdict[str, hashlib._Hash] = defaultdict(hashlib.sha256)
    for batch in changes:
        for row in batch.select(["trans_key", *_COLUMNS]).to_pylist():
            if among is None or row["trans_key"] in among:
                hashes[row["trans_key"]].update(repr([row[name] for name in _COLUMNS]).encode())
    return {transaction: digest.hexdigest() for transaction, digest in hashes.items()}
