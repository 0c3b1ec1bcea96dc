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
from sluice.vendors.oracle.read.rows import moved, written_as
from sluice.vendors.oracle.read.snapshot_id import SnapshotId
from sluice.vendors.oracle.refusals import no_blocks
from sluice.vendors.oracle.session import execute
from sluice.vendors.oracle.source_session import SourceSession
from sluice.vendors.protocol.absent_features import Unheld
from sluice.vendors.protocol.plain_table import PlainTable
from sluice.vendors.protocol.read import KeyRange, Leaf

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
        """See that no watched table is missing in it. Raises TransientError SLC-493."""
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
        rows = execute(session, composed("catalog/size"), {"schema": name.schema, "name": name.table})
        blocks, in_index = rows[0] if rows else (0, "NO")
        parts = min(int(blocks) // _PIECE_BLOCKS, _MOST_PIECES)
        cuts: list[str] = []
        if parts > 1 and in_index == "NO":
            percent = min(100 * _SAMPLED * parts / int(blocks), 99.0)
            statement = composed("read/cuts", parts=str(parts), percent=f"{percent:.6f}", table=qualified(name))
            # The first part begins before whatever is found.
            cuts = [str(place) for (place,) in execute(session, statement)][1:]
        return Leaf(name, name, int(blocks) * _BLOCK_BYTES, len(cuts) + 1, written_as(self._place, cuts))

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

    def expect_bounds(self, within: KeyRange) -> None:
        """No range of keys can be asked for. Raises SluiceError SLC-490."""
        raise no_blocks()


def place_now(session: SourceSession) -> SnapshotId:
    """The newest change number."""
    return SnapshotId(newest_scn(session.open()), session.resources.folded, session.resources.schema)
