"""The snapshot that a dump reads: a change number, which nobody has to hold open.

No lock keeps others from altering a table meanwhile: such a lock would fail their statement. The server then refuses to
show the table as it was, and the dump is tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sluice.model.names import TableName
from sluice.model.position import Position
from sluice.vendors.oracle.capture import registry
from sluice.vendors.oracle.capture.queue.sweep import newest_scn, snapshot_as_of
from sluice.vendors.oracle.catalog.recorded import layout_of
from sluice.vendors.oracle.catalog.tables import described
from sluice.vendors.oracle.errors import translated
from sluice.vendors.oracle.names import composed, qualified
from sluice.vendors.oracle.read.key_order import KeyOrder, key_order
from sluice.vendors.oracle.read.rows import expressions, moved, written_as
from sluice.vendors.oracle.read.snapshot_id import SnapshotId
from sluice.vendors.oracle.refusals import no_ranges
from sluice.vendors.oracle.session import execute
from sluice.vendors.oracle.source_session import SourceSession
from sluice.vendors.protocol.absent_features import Unheld
from sluice.vendors.protocol.plain_table import PlainTable
from sluice.vendors.protocol.read import Key, KeyRange, Leaf

# The usual size of a block, and how many of them are worth a piece of their own; a table has so many pieces at most.
_BLOCK_BYTES = 8_192
_PIECE_BLOCKS = 4_096
_MOST_PIECES = 64
# About so many blocks are looked at for each piece.
_SAMPLED = 20


class OracleSnapshot(Unheld):
    """See `sluice.vendors.protocol.load.DumpSnapshot`."""

    def __init__(
        self,
        session: SourceSession,
        stages: Sequence[Sequence[TableName]],
        at: Callable[[], tuple[Position, str | None]],
    ) -> None:
        self._session = session
        self._tables = [name for stage in stages for name in stage]
        self._at = at

    def __enter__(self) -> OracleSnapshot:
        with translated("taking the dump's snapshot"):
            # All that is published by now was committed before the change number that is asked for after it.
            self.position, other = self._at()
            self._place = SnapshotId.parsed(other) if other else place_now(self._session)
            self.id = str(self._place)
            self.snapshot = snapshot_as_of(self._session.open(), self._session.parts, self._place.scn)
        return self

    def expect_complete(self) -> None:
        """See that no watched table is missing in it. Raises TransientError SLC-095."""
        with translated("looking at the registry"):
            for name, one in registry.registered(self._session.open(), self._session.parts).items():
                if name not in self._tables or not one.ready:
                    raise moved(name, "it is being watched from this moment on")

    def definitions(self) -> list[PlainTable]:
        """The tables."""
        with translated("reading the catalog"):
            found = [(name, described(self._session.open(), name)) for name in self._tables]
        if gone := [name for name, table in found if table is None]:
            raise moved(gone[0], "it is not there")
        return [PlainTable(layout_of(table)) for _, table in found if table]

    def leaves(self) -> list[Leaf]:
        """The tables, each cut at addresses of rows. Another dump has other ones, so none goes on with this one's."""
        with translated("reading the catalog"):
            return [self._leaf(name) for name in self._tables]

    def _leaf(self, name: TableName) -> Leaf:
        session = self._session.open()
        blocks, in_index = self._size(name)
        parts = min(blocks // _PIECE_BLOCKS, _MOST_PIECES)
        cuts: list[str] = []
        if parts > 1 and not in_index:
            percent = _percent(blocks, parts)
            statement = composed("read/cuts", parts=str(parts), percent=percent, table=qualified(name))
            # The first part begins before whatever is found.
            cuts = [str(place) for (place,) in execute(session, statement)][1:]
        return Leaf(name, name, blocks * _BLOCK_BYTES, len(cuts) + 1, written_as(self._place, cuts))

    def published(self) -> bool:
        """Whether the change log has everything that the snapshot shows."""
        with translated("looking at ITEMS"):
            statement = composed("capture/queue/unswept", **self._session.parts)
            ((left,),) = execute(self._session.open(), statement, {"scn": self._place.scn})
        return int(left) == 0

    def filled(self) -> set[TableName]:
        """The tables that have rows in it."""
        with translated("looking for rows"):
            return {name for name in self._tables if self._has_rows(name)}

    def _has_rows(self, name: TableName) -> bool:
        statement = composed("read/filled", table=qualified(name))
        return bool(execute(self._session.open(), statement, {"scn": self._place.scn}))

    def order(self, table: TableName) -> str | None:
        """The order of a table's keys; None if it has no primary key that identifies and sorts its rows."""
        found = self._order(table)
        return found.sign if found else None

    def cuts(self, within: KeyRange, parts: int) -> list[Key]:
        """The keys at which a range is cut into parts, by a sample of blocks; none if its table is small, or lies in an
        index.
        """
        name, order = within.table, self._order(within.table)
        with translated("planning the blocks"):
            blocks, in_index = self._size(name)
            if order is None or in_index or blocks < parts * _PIECE_BLOCKS:
                return []
            filled = {
                "taken": ", ".join(f'piece."C{place}"' for place in range(len(order.columns))),
                "columns": expressions(order.names, order.kinds, self._place.parts),
                "sorted": order.sorted,
                "table": qualified(name),
                "percent": _percent(blocks, parts),
                "parts": str(parts),
            }
            rows = execute(self._session.open(), composed("read/key_cuts", **filled))
        return [order.key(row) for row in rows]

    def expect_bounds(self, within: KeyRange) -> None:
        """Only whole tables can be asked for. Raises SluiceError SLC-099."""
        if within.first or within.until:
            raise no_ranges()

    def _order(self, name: TableName) -> KeyOrder | None:
        with translated("planning the blocks"):
            found = described(self._session.open(), name)
        return key_order(found) if found else None

    def _size(self, name: TableName) -> tuple[int, bool]:
        """About how many blocks a table has, and whether it lies in an index."""
        rows = execute(self._session.open(), composed("catalog/size"), {"schema": name.schema, "name": name.table})
        blocks, in_index = rows[0] if rows else (0, "NO")
        return int(blocks), in_index != "NO"


def _percent(blocks: int, parts: int) -> str:
    return f"{min(100 * _SAMPLED * parts / blocks, 99.0):.6f}"


def place_now(session: SourceSession) -> SnapshotId:
    """The newest change number."""
    return SnapshotId(newest_scn(session.open()), session.resources.folded, session.resources.schema)
