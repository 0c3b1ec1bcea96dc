"""Writes the net effect of a run by sets, where a table has one key alone and nothing that acts on it.

Keys that are gone go first, then rows come or become what they are now. So no order among tables or rows matters, and
no row stands in the way of another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, Protocol, TypeVar

import pyarrow as pa

from sluice.apply.net.effects import Effect, Run
from sluice.apply.net.net_effect import CountedNet, KeyedNet, cells
from sluice.crash import CrashPoint, crash_if_asked
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.row_conflict import Tolerated, conflict_counts

# What becomes of a staged key.
GONE, COMES, FRESH = "0", "1", "2"


class Table(Protocol):
    """A table as a vendor stores it, with its columns in the order of the layout."""

    @property
    def name(self) -> TableName:
        """What the slave calls it."""

    @property
    def columns(self) -> Sequence[Any]:
        """Its columns, in the vendor's own form."""


T = TypeVar("T", bound=Table)


class NetWriter(ABC, Generic[T]):
    """The tables of a slave, as one session writes them."""

    def __init__(self) -> None:
        self._tables: dict[Layout, T] = {}

    @staticmethod
    @abstractmethod
    def translated(doing: str) -> AbstractContextManager[None]:
        """Turn a driver's error into one of ours."""

    @abstractmethod
    def held(self, layout: Layout) -> T:
        """The slave's table of a layout, which nobody alters until the transaction ends.

        Raises:
            SluiceError: it is not there, or unfit.
        """

    @abstractmethod
    def insert(self, table: T, texts: Sequence[pa.Array]) -> None:
        """Put rows into a table, given as an array of canonical texts for each column.

        Raises:
            SluiceError: a value that a column cannot hold.
        """

    @abstractmethod
    def empty(self, table: T) -> None:
        """Delete all rows, within the transaction."""

    @abstractmethod
    def keyed(self, table: T, net: KeyedNet, changes: pa.Table) -> int:
        """Write the net effect on keys; how many rows of it the slave lacked."""

    @abstractmethod
    def count_alike(self, table: T, image: Sequence[str | None]) -> int:
        """How many rows look like an image."""

    @abstractmethod
    def delete_alike(self, table: T, image: Sequence[str | None], most: int) -> int:
        """Delete so many of them, or all if there are not as many; how many that were."""

    def look_up(self) -> None:
        """Look at tables again: in a transaction that begins they may be others."""
        self._tables.clear()

    def table(self, layout: Layout) -> T:
        """See `held`; it is looked at once in a transaction."""
        if layout not in self._tables:
            self._tables[layout] = self.held(layout)
        return self._tables[layout]

    def write(self, run: Run) -> Tolerated:
        """Write one run. Returns which rows were not as expected. Raises what `held` and `insert` raise."""
        tolerated = Tolerated()
        for effect in run:
            with self.translated(f"writing to {effect.layout.name}"):
                table = self.table(effect.layout)
                if effect.is_emptied:
                    self.empty(table)
                found = self._effect(table, effect)
            tolerated += Tolerated() if effect.is_emptied else conflict_counts(table.name, missing=found)
        return tolerated

    def _effect(self, table: T, effect: Effect) -> int:
        missing = 0
        for net, changes in effect.nets():
            if isinstance(net, KeyedNet):
                missing += self.keyed(table, net, changes)
            else:
                crash_if_asked(CrashPoint.STAGED)
                missing += self._counted(table, net)
        return missing

    def _counted(self, table: T, net: CountedNet) -> int:
        """Count c of rows that look alike becomes max(c + a, b); only where b > a it matters what c was."""
        missing, plain, coming = 0, list[list[str | None]](), list[list[str | None]]()
        for image, a, b in net.effects:
            if a >= 0 and b <= a:
                plain += [image] * a
                continue
            if b > a:
                count = self.count_alike(table, image)
                becomes = max(count + a, b)
                missing += becomes - (count + a)
                change = becomes - count
            else:
                change = a
            coming += [image] * max(change, 0)
            if change < 0:
                missing += -change - self.delete_alike(table, image, -change)
        self.insert(table, columns_of([*plain, *coming], range(len(table.columns))))
        return missing


def staged(net: KeyedNet, changes: pa.Table, width: int) -> Iterator[tuple[pa.Array, list[pa.Array]]]:
    """The rows of a stage: keys that go, then rows that come. Their marks, and an array of texts for each column."""
    gone = cells(changes["old"], net.gone, width, net.layout.key)
    come = cells(changes["new"], [*net.changed, *net.fresh], width, range(width))
    marks = {GONE: len(net.gone)}, {COMES: len(net.changed), FRESH: len(net.fresh)}
    for marked, images in zip(marks, (gone, come), strict=True):
        yield pa.array([one for one, count in marked.items() for _ in range(count)], pa.string()), images


def columns_of(images: Sequence[Sequence[str | None]], indices: Iterable[int]) -> list[pa.Array]:
    """Images of rows as an array of texts for each column."""
    return [pa.array([image[index] for image in images], pa.string()) for index in indices]
