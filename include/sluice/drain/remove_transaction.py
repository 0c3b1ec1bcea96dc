"""A slave's view of the log without one transaction, which is removed and kept in the control store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from sluice import shell
from sluice.arrow_rows import kept
from sluice.changelog.manifest import Manifest
from sluice.drain.slave_view import SlaveViews, layouts_of
from sluice.drain.spill import Spill
from sluice.errors import SluiceError, TransientError
from sluice.model.action import Action
from sluice.model.layout import Layout
from sluice.model.names import Pair, TableName
from sluice.model.row_conflict import RejectedChange

# So many are Python's objects at a time.
_ROWS = 1000


class WithoutTransaction:
    """The slave's view of all other transactions; the removed one is spilled, whatever its size.

    Args:
        seeing: the slave's views.
    """

    def __init__(self, seeing: SlaveViews, manifest: Manifest, ordinal: int) -> None:
        self._seeing = seeing
        self._manifest = manifest
        self._ordinal = ordinal
        self._aside = Spill()
        self._unseen = False

    def seen(self, changes: pa.Table) -> tuple[pa.Table, dict[int, Layout]]:
        """The slave's view of changes and layouts. Raises SluiceError if the view of another transaction fails."""
        gone = pc.equal(changes["ordinal"], self._ordinal)
        # The view of a later part may still fail.
        self._aside.add(True, kept(changes, gone))
        try:
            seen, layouts = self._seeing.seen(changes)
        except TransientError:
            raise
        except SluiceError:
            self._unseen = True
            return self._seeing.seen(kept(changes, pc.invert(gone)))
        gone = pc.equal(seen["ordinal"], self._ordinal)
        self._aside.add(False, kept(seen, gone))
        return kept(seen, pc.invert(gone)), layouts

    def left_out(self, changes: pa.Table) -> Counter[TableName]:
        """See `SlaveViews`."""
        return self._seeing.left_out(changes)

    def layouts(self) -> dict[int, Layout]:
        """See `SlaveViews`."""
        return self._seeing.layouts()

    def removed(self) -> Iterator[RejectedChange]:
        """The changes of the removed transaction in the slave's view; in the master's if the slave's view fails."""
        for changes in self._aside.read(self._unseen):
            layouts = self._manifest.layouts(layouts_of(changes)) if self._unseen else self.layouts()
            for some in changes.drop_columns("trans_key").to_batches(_ROWS):
                yield from self._rejected(some, layouts)

    def _rejected(self, changes: pa.RecordBatch, layouts: Mapping[int, Layout]) -> Iterator[RejectedChange]:
        for row in changes.to_pylist():
            if row["action"] != Action.COMMIT:
                yield RejectedChange(layouts.get(row.pop("layout")), None, **row, unseen=self._unseen)


def no_obstacle(pair: Pair, ordinal: int) -> SluiceError:
    """The error for a transaction that does not block the slave."""
    return SluiceError(
        170,
        f"{pair} does not stand in front of transaction {ordinal}",
        f"nothing was changed; `{shell.dispatcher(pair)}` says in front of which it stands",
    )
