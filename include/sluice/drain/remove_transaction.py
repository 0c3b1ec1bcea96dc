"""The changes of a slave without one of its transactions, which somebody has kept aside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from sluice import shell
from sluice.arrow_rows import kept
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
    """What a slave sees of the other transactions; the one that is taken out is put aside, however large it is.

    Args:
        see: what it sees of changes, and of their layouts.
        views: the views that it sees them by.
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
        """What it sees of changes, and of their layouts. Raises SluiceError if one of the others cannot be seen."""
        gone = pc.equal(changes["ordinal"], self._ordinal)
        # Seeing some of it may fail yet.
        self._aside.add(True, kept(changes, gone))
        try:
            seen, layouts = self._see(changes, ddl)
        except TransientError:
            raise
        except SluiceError:
            self._unseen = True
            return self._see(kept(changes, pc.invert(gone)), ddl)
        gone = pc.equal(seen["ordinal"], self._ordinal)
        self._aside.add(False, kept(seen, gone))
        return kept(seen, pc.invert(gone)), layouts

    def removed(self) -> Iterator[RejectedChange]:
        """The one that is taken out, as the slave sees it; as the master wrote it, if it is seeing it that fails."""
        for changes in self._aside.read(self._unseen):
            layouts = self._manifest.layouts(layouts_of(changes)) if self._unseen else self._views.layouts()
            for some in changes.drop_columns("trans_key").to_batches(_ROWS):
                yield from self._rejected(some, layouts)

    def _rejected(self, changes: pa.RecordBatch, layouts: Mapping[int, Layout]) -> Iterator[RejectedChange]:
        for row in changes.to_pylist():
            if row["action"] != Action.COMMIT:
                yield RejectedChange(layouts.get(row.pop("layout")), None, **row, unseen=self._unseen)


def no_obstacle(pair: Pair, ordinal: int) -> SluiceError:
    """Why a transaction cannot be taken out."""
    return SluiceError(
        170,
        f"{pair} does not stand in front of transaction {ordinal}",
        f"nothing was changed; `{shell.dispatcher(pair)}` says in front of which it stands",
    )
