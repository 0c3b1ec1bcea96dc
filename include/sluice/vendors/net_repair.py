"""Rows of some keys become those of the master, at a point of the stream (R10), by what writes batches (`net_writer`).

The keys that the master has not go first, and then its rows come or become what they are there: in one transaction that
holds the row of the slave's position. So no drain moves the slave on meanwhile, and no job takes it over (R6).
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

import pyarrow as pa

from sluice.apply.mapping.table_view import TableView
from sluice.apply.net.net_effect import KeyedNet
from sluice.changelog.points import PointWait
from sluice.changelog.schema import images_of
from sluice.config.mapper import Mapper
from sluice.connections import ConnectionInfo
from sluice.crash import CrashPoint, crash_if_asked
from sluice.model.action import FilledRows
from sluice.model.layout import Layout
from sluice.model.names import Pair, Resources
from sluice.values.copy_text import columns_of
from sluice.vendors.net_writer import NetWriter, Table
from sluice.vendors.protocol.read import Key
from sluice.vendors.protocol.repair import Counted, RowsRepaired

_LOOK_S = 0.02

T = TypeVar("T", bound=Table)
Image = list[str | None]


class NetRepair(ABC, Generic[T]):
    """See `sluice.vendors.protocol.repair.RowRepair`."""

    def __init__(
        self, info: ConnectionInfo, pair: Pair, schema: str, mapper: Mapper, masters: Collection[Resources]
    ) -> None:
        self.pair = pair
        self._mapper = mapper
        self._doing = f"repairing {pair.slave}"
        with self.translated(self._doing):
            self.writer = self.opened(info, schema)

    @abstractmethod
    def opened(self, info: ConnectionInfo, schema: str) -> NetWriter[T]:
        """Begin a session; what writes there."""

    @abstractmethod
    def translated(self, doing: str) -> AbstractContextManager[None]:
        """Turn a driver's error into one of ours."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """A transaction: committed at the end of the block, and on the disk then, unless that fails."""

    @abstractmethod
    def arrived(self, at: PointWait, *, held: bool) -> bool:
        """Whether the slave is at a point.

        Args:
            held: within a transaction, until whose end nobody moves it.

        Raises:
            TransientError: SLC-091 and SLC-092, see `PointWait.over`.
        """

    @abstractmethod
    def key_types(self, table: T, layout: Layout) -> list[str]:
        """The types that the columns of the key have there, as the log names them."""

    @abstractmethod
    def close(self) -> None:
        """End the session."""

    def begin(self, view: TableView) -> list[str]:
        """Begin with rows of a table. Returns the types that the columns of its key have on the slave.

        Raises:
            SluiceError: the table is not there, or does not take the master's rows exactly.
        """
        self._doing = f"repairing {view.layout.name} of {self.pair.slave}"
        with self.translated(self._doing):
            with self.transaction():
                self.writer.look_up()
                table = self.writer.table(view.layout)
            self._view, self._images = view, list[Image]()
            return self.key_types(table, view.layout)

    def write(self, buffer: bytes) -> None:
        """Write some rows: they are kept until the slave is at the point."""
        columns = columns_of(buffer, len(self._view.written_columns))
        self._images += [list(row) for row in zip(*(one.to_pylist() for one in columns), strict=True)]

    def end(
        self, keys: Sequence[Key], at: PointWait, expect_allowed: Callable[[], None], counted: Counted
    ) -> RowsRepaired:
        """Make the slave's rows of these keys those that were written."""
        with self.translated(self._doing):
            while True:
                while not self.arrived(at, held=False):
                    time.sleep(_LOOK_S)
                crash_if_asked(CrashPoint.STAGED)
                with self.transaction():
                    if self.arrived(at, held=True):
                        expect_allowed()
                        repaired = counted(self._repaired(keys))
                        crash_if_asked(CrashPoint.MERGED)
                        break
        crash_if_asked(CrashPoint.COMMITTED)
        return repaired

    def _repaired(self, keys: Sequence[Key]) -> RowsRepaired:
        layout = self._view.layout
        self.writer.look_up()
        table = self.writer.table(layout)
        # Rows of the slave's own are not the master's of any time.
        own = self._mapper.existing_rows(self._view.master.name) is FilledRows.MERGE
        come = {tuple(image[place] for place in layout.key) for image in self._images}
        gone = [] if own else [_image(layout, key) for key in keys if key not in come]
        missing = 0
        if gone:
            net = KeyedNet(layout, False, gone=list(range(len(gone))), known_gone=len(gone))
            missing = self.writer.keyed(table, net, _changes(old=gone))
        if self._images:
            net = KeyedNet(layout, False, fresh=list(range(len(self._images))))
            self.writer.keyed(table, net, _changes(new=self._images))
        return RowsRepaired(len(gone) - missing, len(self._images))


def _image(layout: Layout, key: Key) -> Image:
    found: Image = [None] * len(layout.columns)
    for place, text in zip(layout.key, key, strict=True):
        found[place] = text
    return found


def _changes(*, new: Sequence[Image] = (), old: Sequence[Image] = ()) -> pa.Table:
    """Images as the writer of batches takes them."""
    count = max(len(new), len(old))
    sides: dict[str, Sequence[Image | None]] = {"new": new or [None] * count, "old": old or [None] * count}
    return pa.table({name: pa.chunked_array([images_of(images)]) for name, images in sides.items()})
