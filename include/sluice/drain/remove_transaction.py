"""A slave's view of the log without one transaction, which is removed and kept in the control store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from sluice import shell
from sluice.arrow_rows import filter_rows
from sluice.changelog.manifest import Manifest
from sluice.drain.parsed_ddl import ParsedDdl
from sluice.drain.slave_view import SlaveViews, layouts_of
from sluice.drain.spill import Spill
from sluice.errors import SluiceError, TransientError
from sluice.model.action import Action
from sluice.model.layout import Layout
from sluice.model.names import Pair
from sluice.model.row_conflict import RejectedChange

# So many are Python's objects at a time.
_ROWS = 1000


class WithoutTransaction:
    """The slave's view of all other transactions; the removed one is spilled, whatever its size.

    Args:
        see: the slave's view of changes, and of their layouts.
        views: the views of the tables.
    """

    def __init__(
        self,
        see: Callable[[pa.Table, ParsedDdl], tuple[pa.Table, dict[int, Layout]]],
        views: SlaveViews,
        manifest: Manifest,
        ordinal: int,
    ) -> None:
        self._see = see
        self._views = views
        self._manifest = manifest
        self._ordinal = ordinal
        self._aside = Spill()
        self._unseen = False

    def see(self, changes: pa.Table, ddl: ParsedDdl) -> tuple[pa.Table, dict[int, Layout]]:
        """The slave's view of changes and layouts. Raises SluiceError if the view of another transaction fails."""
        gone = pc.equal(changes["ordinal"], self._ordinal)
        # The view of a later part may still fail.
        self._aside.add(True, filter_rows(changes, gone))
        try:
            seen, layouts = self._see(changes, ddl)
        except TransientError:
            raise
        except SluiceError:
            self._unseen = True
            return self._see(filter_rows(changes, pc.invert(gone)), ddl)
        gone = pc.equal(seen["ordinal"], self._ordinal)
        self._aside.add(False, filter_rows(seen, gone))
        return filter_rows(seen, pc.invert(gone)), layouts

    def removed_changes(self) -> Iterator[RejectedChange]:
        """The changes of the removed transaction in the slave's view; in the master's if the slave's view fails."""
        for changes in self._aside.read(self._unseen):
            layouts = self._manifest.layouts(layouts_of(changes)) if self._unseen else self._views.layouts()
            for some in changes.drop_columns("trans_key").to_batches(_ROWS):
                yield from self._rejections(some, layouts)

    def _rejections(self, changes: pa.RecordBatch, layouts: Mapping[int, Layout]) -> Iterator[RejectedChange]:
        for row in changes.to_pylist():
            if row["action"] != Action.COMMIT:
                yield RejectedChange(layouts.get(row.pop("layout")), None, **row, unseen=self._unseen)


def no_obstacle(pair: Pair, ordinal: int) -> SluiceError:
    """The error for a transaction that does not block the slave."""
    return SluiceError(
        172,
        f"{pair} does not stand in front of transaction {ordinal}",
        f"nothing was changed; `{shell.dispatcher(pair)}` says in front of which it stands",
    )
