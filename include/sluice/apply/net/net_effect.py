"""The net effect of a batch on each table: for every key its last image, or that it is gone.

The result does not depend on where batches were cut: each change says what becomes of a key (present with this image,
or absent), so the last one says it all. Three kinds of tables need three ways to tell rows apart:

- a key that is checked at once: by key;
- a key that is checked at commit: within a transaction two rows may share a key for a while (`id = id + 1`), so an old
  image takes away the row that looks like it, not whichever row bears the key;
- no key: rows that look alike are one, with a count. A delete that finds no row does nothing, so the effect on a
  count c is max(c + a, b); such effects compose, wherever they are cut.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sluice.arrow_rows import take_rows
from sluice.model.layout import Layout

Key = tuple[str | None, ...] | str | None
Row = list[str | None]
Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class KeyedNet:
    """The net effect on the keys of one table. The numbers are row indices in the batch that was netted.

    Attributes:
        emptied: the table is emptied first (TRUNCATE).
        gone: changes whose *old* image has a key that is absent at the end.
        known_gone: the number of those keys that existed before the batch, if the slave is as expected.
        changed: changes whose *new* image is the last one of a key that existed before.
        fresh: changes whose *new* image is the last one of a key that did not exist before.
    """

    layout: Layout
    emptied: bool
    gone: list[int] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)
    fresh: list[int] = field(default_factory=list)
    known_gone: int = 0


@dataclass(frozen=True)
class CountedNet:
    """The net effect on the rows of a table without a key: for (image, a, b) the count c becomes max(c + a, b)."""

    layout: Layout
    emptied: bool
    effects: list[tuple[Row, int, int]]


Net = KeyedNet | CountedNet


def net(layout: Layout, changes: pa.Table) -> Net:
    """The net effect of changes of one table under one layout, in their order. Columns as in `CHANGES`."""
    if not layout.key:
        actions = changes["action"].to_pylist()
        return _counted_net(layout, actions, _rows(layout, changes["new"]), _rows(layout, changes["old"]))
    if layout.deferrable:
        return _by_image(layout, changes, keys_of(changes["new"], layout.key), keys_of(changes["old"], layout.key))
    return _by_key(layout, changes)


def keys_of(rows: pa.ChunkedArray, key: Sequence[int]) -> list[Key]:
    """The key of each row, as a text or a tuple of texts; None for a null row."""
    columns = [pc.list_element(rows, index).to_pylist() for index in key]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def cells(rows: pa.ChunkedArray, indices: Sequence[int], width: int, columns: Collection[int]) -> list[pa.Array]:
    """The rows at these indices, as one text array for each column; NULLs for all columns but `columns`."""
    flat = take_rows(rows.combine_chunks(), np.array(indices, np.int64)).flatten()
    starts = np.arange(len(indices)) * width
    nothing = pa.nulls(len(indices), pa.string())
    return [take_rows(flat, starts + column) if column in columns else nothing for column in range(width)]


def _by_key(layout: Layout, changes: pa.Table) -> KeyedNet:
    """A key's last event says whether it is present, its first one whether it was there before."""
    inserts, updates, deletes, truncates = (
        pc.equal(changes["action"], action).to_numpy() for action in ("I", "U", "D", "T")
    )
    new, old = number_keys(changes, layout.key)
    # An update without its old image has left the key as it was.
    moves = updates & (new != old) & changes["old"].is_valid().to_numpy()
    emptied = bool(truncates.any())
    begin = int(np.flatnonzero(truncates)[-1]) + 1 if emptied else 0
    leaves = begin + np.flatnonzero((deletes | moves)[begin:])
    comes = begin + np.flatnonzero((inserts | updates)[begin:])
    # A change that moves a row frees its old key before it takes the new one.
    moments = np.concatenate((2 * leaves, 2 * comes + 1))
    in_time = np.argsort(moments, kind="stable")
    moments = moments[in_time]
    keys = np.concatenate((old[leaves], new[comes]))[in_time]
    first = np.full(keys.max(initial=-1) + 1, -1)
    last = first.copy()
    # Where an index is repeated, numpy keeps what is assigned last.
    last[keys] = moments
    first[keys[::-1]] = moments[::-1]
    first, last = first[first >= 0], last[last >= 0]
    present = last % 2 == 1
    known = (first % 2 == 0) | (updates & ~moves)[first // 2]
    changed = known & (not emptied)
    indices = last // 2

    def select(which: Flags) -> list[int]:
        places: list[int] = np.sort(indices[which]).tolist()
        return places

    known_gone = 0 if emptied else int(np.count_nonzero(known & ~present))
    return KeyedNet(
        layout, emptied, select(~present), select(present & changed), select(present & ~changed), known_gone
    )


def number_keys(changes: pa.Table, key: Sequence[int]) -> tuple[Numbers, Numbers]:
    """The keys of the new and of the old images, as numbers that are equal where the keys are."""
    numbers = np.zeros(2 * len(changes), np.int64)
    for index in key:
        texts = pa.chunked_array(
            [chunk for side in ("new", "old") for chunk in pc.list_element(changes[side], index).chunks], pa.string()
        )
        codes = texts.combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy().astype(np.int64) + 1
        numbers = numbers * (codes.max(initial=0) + 1) + codes
        if len(key) > 1:
            numbers = np.unique(numbers, return_inverse=True)[1]
    return numbers[: len(changes)], numbers[len(changes) :]


def _by_image(layout: Layout, changes: pa.Table, new: list[Key], old: list[Key]) -> KeyedNet:
    last: dict[Key, tuple[int, bool]] = {}
    fresh: set[Key] = set()
    emptied = False
    for rows in transactions(changes, new, old):
        if rows.emptied is not None:
            emptied = True
            last.clear()
            fresh.clear()
        rows.end(last, fresh)
    return _keyed_net(layout, emptied, last, fresh)


def transactions(changes: pa.Table, new: list[Key], old: list[Key]) -> Iterator[TransactionRows]:
    """Each transaction among changes of one table, as it is at its end, or as far as these go."""
    ordinals = changes["ordinal"].to_pylist()
    news, olds = (changes[side].combine_chunks() for side in ("new", "old"))
    rows = TransactionRows(news, olds)
    for index, action in enumerate(changes["action"].to_pylist()):
        if index and ordinals[index] != ordinals[index - 1]:
            yield rows
            rows = TransactionRows(news, olds)
        if action in "UD":
            rows.take(old[index], index)
        if action in "UI":
            rows.put(new[index], index)
        elif action == "T":
            rows.empty(index)
    yield rows


class TransactionRows:
    """Rows on their way within one transaction, at whose end no two bear one key any more.

    Attributes:
        emptied: the index of its last TRUNCATE.
        put_there: for each key the indices of changes whose new rows have it still.
        taken: for each key the index of the change that removed the row from before the transaction.
    """

    def __init__(self, news: pa.Array, olds: pa.Array) -> None:
        self._news = news
        self._olds = olds
        self.emptied: int | None = None
        self.put_there: dict[Key, list[int]] = {}
        self.taken: dict[Key, int] = {}

    def empty(self, index: int) -> None:
        """Remove all rows."""
        self.emptied = index
        self.put_there.clear()
        self.taken.clear()

    def put(self, key: Key, index: int) -> None:
        """Add a row under a key, perhaps beside another."""
        self.put_there.setdefault(key, []).append(index)

    def take(self, key: Key, index: int) -> None:
        """Remove a row: an equal one that was added before, else the row from before the transaction."""
        bearers = self.put_there.get(key, [])
        gone = self._olds[index] if bearers else None
        twin = next((bearer for bearer in bearers if self._news[bearer].equals(gone)), None)
        if twin is None:
            self.taken[key] = index
        else:
            bearers.remove(twin)

    def end(self, last: dict[Key, tuple[int, bool]], fresh: set[Key]) -> None:
        """Record the last state of each key. Leave out keys whose row is as it was."""
        for key, index in self.taken.items():
            last[key] = (index, False)
        for key, bearers in self.put_there.items():
            if bearers:
                if key not in last:
                    fresh.add(key)
                last[key] = (bearers[-1], True)


def _keyed_net(layout: Layout, emptied: bool, last: dict[Key, tuple[int, bool]], fresh: set[Key]) -> KeyedNet:
    gone, changed, new = [], [], []
    for key, (index, present) in last.items():
        if not present:
            gone.append(index)
        elif emptied or key in fresh:
            new.append(index)
        else:
            changed.append(index)
    known_gone = sum(1 for key, (_, present) in last.items() if not present and key not in fresh)
    return KeyedNet(layout, emptied, gone, changed, new, 0 if emptied else known_gone)


def _rows(layout: Layout, rows: pa.ChunkedArray) -> list[Row]:
    """The images, without what the database computes: its expression may change, and rows that look alike do not."""
    images: list[Row] = rows.to_pylist()
    for index, column in enumerate(layout.columns):
        if column.generated:
            for image in filter(None, images):
                image[index] = None
    return images


def _counted_net(layout: Layout, actions: list[str], news: list[Row], olds: list[Row]) -> CountedNet:
    effects: dict[tuple[str | None, ...], tuple[int, int]] = {}
    emptied = False
    for index, action in enumerate(actions):
        if action in "UD":
            image = tuple(olds[index])
            a, b = effects.get(image, (0, 0))
            effects[image] = (a - 1, max(b - 1, 0))
        if action in "UI":
            image = tuple(news[index])
            a, b = effects.get(image, (0, 0))
            effects[image] = (a + 1, b + 1)
        elif action == "T":
            emptied = True
            effects.clear()
    return CountedNet(layout, emptied, [(list(image), a, b) for image, (a, b) in effects.items()])
