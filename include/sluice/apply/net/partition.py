"""Changes of one table partitioned by the hash of their keys, so that a net effect is computed for some keys at a time.

The net effect on a key depends on the changes of that key alone. A change of the key concerns two keys, so each update
is split into a delete of the old row and an insert of the new one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.net.net_effect import Numbers, keys_of, number_keys, transactions
from sluice.arrow_rows import take_rows
from sluice.model.action import Action
from sluice.model.layout import Layout


def divide(layout: Layout, changes: pa.Table, count: int) -> Iterator[pa.Table]:
    """Partition changes by the hash of their keys into `count` tables of inserts and deletes, each in the same order.

    Updates without an old image, which keep the key, stay updates. Without a key, all columns that are not generated
    are the key. Columns as in `CHANGES`, in and out.
    """
    key = layout.key or [index for index, column in enumerate(layout.columns) if not column.generated]
    sides, moments, buckets = [], [], []
    for number, (side, other, action) in enumerate((("old", "new", Action.DELETE), ("new", "old", Action.INSERT))):
        present = changes[side].is_valid()
        some = changes.filter(present)
        keys = keys_of(some[side], key)
        buckets.append(np.fromiter((hash(row_key) % count for row_key in keys), np.int64, len(some)))
        moments.append(2 * np.flatnonzero(present.to_numpy()) + number)
        alone = pc.and_(pc.equal(some["action"], Action.UPDATE), some[other].is_null())
        some = _set(some, "action", pc.if_else(alone, some["action"], pa.scalar(action.value)))
        sides.append(_set(some, other, pa.nulls(len(some), changes.schema.field(other).type)))
    bucket = np.concatenate(buckets)
    order = np.lexsort((np.concatenate(moments), bucket))
    sorted_ = pa.concat_tables(sides).take(pa.array(order))
    for low, high in pairwise(np.searchsorted(bucket[order], np.arange(count + 1)).tolist()):
        yield sorted_.slice(low, high - low)


def essential(layout: Layout, changes: pa.Table) -> pa.Table:
    """The subset of partitioned changes with the same net effect, also together with later changes."""
    if not layout.key:
        return changes
    return take_rows(changes, _by_image(layout, changes) if layout.deferrable else _by_key(layout, changes))


def _by_key(layout: Layout, changes: pa.Table) -> Numbers:
    """Indices of the first and the last change of each key."""
    new, old = number_keys(changes, layout.key)
    keys = np.where(changes["new"].is_valid().to_numpy(), new, old)
    _, first = np.unique(keys, return_index=True)
    _, last = np.unique(keys[::-1], return_index=True)
    return np.union1d(first, len(keys) - 1 - last)


def _by_image(layout: Layout, changes: pa.Table) -> Numbers:
    """Indices of changes that removed a row from before, and of those whose new rows exist at the end."""
    indices: list[int] = []
    for rows in transactions(changes, *(keys_of(changes[side], layout.key) for side in ("new", "old"))):
        if rows.emptied is not None:
            indices = [rows.emptied]
        indices += rows.taken.values()
        indices += [index for bearers in rows.put_there.values() for index in bearers]
    return np.sort(np.array(indices, np.int64))


def _set(changes: pa.Table, name: str, values: pa.Array | pa.ChunkedArray) -> pa.Table:
    index = changes.schema.get_field_index(name)
    return changes.set_column(index, changes.schema.field(index), values)
