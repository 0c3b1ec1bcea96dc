"""Going on with a load that broke off: which chunks may stay, and what is to come beside them (R5).

Their snapshot is gone, so what is to come is read in another one. A table whose rows are told apart by a key can have
rows of both: the log says what happened in between.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlalchemy import select

from sluice.context import Context
from sluice.drain.catch_up import Overlap
from sluice.errors import SluiceError
from sluice.initial_update.chunks.catch_up import await_published, bring, expect_replayable, with_complete_log
from sluice.initial_update.chunks.chunk_id import ChunkId
from sluice.initial_update.chunks.copy import LoadTarget
from sluice.initial_update.chunks.plan import chunks
from sluice.initial_update.files.manifest import fingerprints
from sluice.initial_update.files.target import StoredTables
from sluice.initial_update.participants import restart
from sluice.log import event
from sluice.model.names import TableName
from sluice.store.engine import Store
from sluice.store.tables import initial_update
from sluice.vendors.protocol.load import DumpSnapshot, Expected, TableDefinition
from sluice.vendors.protocol.read import Chunk
from sluice.vendors.protocol.visibility import ReadSnapshot


@dataclass(frozen=True)
class LoadedTables:
    """The tables that stay on a slave, with their loaded chunks and the row count of each.

    Attributes:
        cuts: all pieces of these tables.
        read_snapshot: reads snapshots of the master.
    """

    read_snapshot: ReadSnapshot
    tables: frozenset[TableName] = frozenset()
    pieces: tuple[tuple[ChunkId, int], ...] = ()
    cuts: tuple[ChunkId, ...] = ()

    @cached_property
    def oldest(self) -> ChunkId:
        """A piece of the first snapshot."""
        return min((piece for piece, _ in self.pieces), key=lambda piece: self.read_snapshot(piece.snapshot).age)

    def holding(self, chunk: Chunk) -> tuple[ChunkId, int] | None:
        """The piece that a chunk is in, and how many rows it has; None if they are to come."""
        pieces = self._by_relation.get(chunk.leaf.relation, [])
        index = bisect_right(pieces, chunk.low, key=lambda one: one[0].low) - 1
        return pieces[index] if index >= 0 and pieces[index][0].holds(chunk) else None

    @cached_property
    def _by_relation(self) -> dict[TableName, list[tuple[ChunkId, int]]]:
        found: dict[TableName, list[tuple[ChunkId, int]]] = {}
        for piece, rows in sorted(self.pieces, key=lambda one: one[0].low):
            found.setdefault(piece.relation, []).append((piece, rows))
        return found


def began(store: Store, update: int) -> bool:
    """Whether an earlier try of an update has written down what it was to load."""
    with store.begin() as connection:
        known = select(initial_update.c.snapshot).where(initial_update.c.id == update)
        return connection.execute(known).scalar() is not None


class Resumption:
    """See `sluice.initial_update.chunks.copy.ResumeStrategy`: what a dump that broke off has left on slaves.

    Attributes:
        shown: the snapshot that the slaves equal in the end.

    Args:
        snapshot: of this dump.
        stages: in which order tables are loaded.
        later: tables of which nothing is loaded here.
        wanted: go on where a load broke off; else nothing stays.
    """

    def __init__(
        self,
        context: Context,
        source: str,
        update: int,
        definitions: Sequence[TableDefinition],
        snapshot: DumpSnapshot,
        stages: Sequence[Sequence[TableName]],
        later: Collection[TableName] = (),
        *,
        wanted: bool,
    ) -> None:
        self._context = context
        self._source = source
        self._read_snapshot = context.read_snapshot(source)
        self._update = update
        self._definitions = definitions
        self.shown = snapshot
        self._later = later
        self._leaves = [leaf for leaf in snapshot.leaves() if leaf.table not in later]
        self._stages = stages
        self._table_of = {leaf.relation: leaf.table for leaf in self._leaves}
        self._wanted = wanted
        self._shapes: dict[str, dict[TableName, str]] = {}
        self._stay: dict[str, LoadedTables] = {}

    def begin(self, target: LoadTarget) -> None:
        """Fence out earlier jobs on a slave, and find out what may stay."""
        self._shapes[target.name] = self._shaped(target)
        found = target.tables.begin()
        stay = self._found(target, found) if self._wanted else LoadedTables(self._read_snapshot)
        if stay.pieces and self._log_is_complete(stay):
            # From here on the log has to be kept.
            restart(self._context, target.pairs, stay.oldest.position, self._update)
            event("resumed", slave=target.name, chunks=len(stay.pieces), rows=sum(rows for _, rows in stay.pieces))
        else:
            stay = LoadedTables(self._read_snapshot)
        self._stay[target.name] = stay

    def chunks(self) -> list[Chunk]:
        """The chunks to copy; loaded ones are read again for rows that were written since."""
        return self._chunks

    @cached_property
    def _chunks(self) -> list[Chunk]:
        stay = self._stay.values()
        boundaries: dict[TableName, set[int]] = {}
        for piece in (piece for one in stay for piece in one.cuts):
            boundaries.setdefault(piece.relation, set()).update({piece.low, piece.high or 0})
        planned = chunks(self._leaves, self._context.config.bulk_tasks, self._stages, boundaries)
        again = [chunk for chunk in planned if any(one.holding(chunk) for one in stay)]
        seen = [self._read_snapshot(one.oldest.snapshot) for one in stay if one.pieces]
        since = min(seen, key=lambda one: one.age).since if seen else None
        return planned + [replace(chunk, number=len(planned) + n, since=since) for n, chunk in enumerate(again)]

    def expected(self, target: LoadTarget) -> list[Expected]:
        """The chunks as one slave expects them."""
        stay, shapes = self._stay[target.name], self._shapes[target.name]
        return [self._expected(chunk, stay.holding(chunk), shapes[chunk.leaf.table]) for chunk in self._chunks]

    def _expected(self, chunk: Chunk, holding: tuple[ChunkId, int] | None, shape: str) -> Expected:
        if chunk.since is not None:
            return Expected(None, None if holding else 0)
        leaf, snapshot = chunk.leaf, self.shown
        new = ChunkId(leaf.relation, 0, None, shape, snapshot.snapshot, snapshot.position, self._update)
        piece, rows = holding or (new, None)
        if rows and piece.low != chunk.low:
            # What it is cut into has its rows together.
            rows = 0
        return Expected(replace(piece, low=chunk.low, high=chunk.high).to_json(), rows)

    def staying(self, target: LoadTarget) -> frozenset[TableName]:
        """The tables of a slave that keep their rows."""
        return self._stay[target.name].tables

    def catch_up(self, target: LoadTarget) -> None:
        """Bring what stayed on a slave, once all else is in, to what this dump's snapshot shows. What stayed in files
        is brought there where they are loaded.

        Raises:
            SluiceError: SLC-080, no publisher runs; SLC-079, a command of that time may have changed rows.
        """
        stay = self._stay[target.name]
        if not stay.pieces:
            return
        await_published(self._source, self.shown)
        overlap = Overlap(stay.tables, stay.oldest.position, stay.oldest.snapshot, self.shown.snapshot)
        if isinstance(target.tables, StoredTables):
            target.tables.overlap = expect_replayable(self._context, self._source, overlap)
        else:
            bring(self._context, target, overlap)

    def lacking(self, target: LoadTarget) -> Collection[TableName]:
        """The tables of which nothing is loaded on this target."""
        return self._later

    def _shaped(self, target: LoadTarget) -> dict[TableName, str]:
        """For each table another text if its rows were moved, or are captured or seen otherwise."""
        seen, found = fingerprints(target.tables.mapper, self._definitions), {}
        for table in self._definitions:
            files = [(leaf.relation, leaf.written_as) for leaf in self._leaves if leaf.table == table.name]
            text = repr((table, files, seen[str(table.name)], target.plan.salt))
            found[table.name] = hashlib.sha256(text.encode()).hexdigest()
        return found

    def _found(self, target: LoadTarget, found: Sequence[Expected]) -> LoadedTables:
        """The loaded chunks with the shape of the current ones, in tables that can have rows of several snapshots."""
        shaped = self._shapes[target.name]
        known = [(ChunkId.from_json(one.part), one.rows) for one in found if one.part]
        existing = [
            (self._table_of[piece.relation], piece, rows) for piece, rows in known if piece.relation in self._table_of
        ]
        ours = [(table, piece, rows) for table, piece, rows in existing if shaped[table] == piece.shape]
        if not (begun := {table for table, _, rows in ours if rows is not None}):
            return LoadedTables(self._read_snapshot)
        tables, definitions = target.tables, [one for one in self._definitions if one.name in begun]
        names = with_complete_log(self._context, self._source, tables.mapper, definitions, tables.merging)
        return LoadedTables(
            self._read_snapshot,
            frozenset(names),
            tuple((piece, rows) for table, piece, rows in ours if table in names and rows is not None),
            tuple(piece for table, piece, _ in ours if table in names),
        )

    def _log_is_complete(self, stay: LoadedTables) -> bool:
        """Whether the log has everything that happened since the oldest snapshot of these rows."""
        updates = {piece.update for piece, _ in stay.pieces}
        known = select(initial_update.c.id).where(
            initial_update.c.id.in_(updates), initial_update.c.snapshot.is_not(None)
        )
        with self._context.store.begin() as connection:
            whole = len(connection.execute(known).all()) == len(updates)
        try:
            self._context.manifest(self._source).ahead("", stay.oldest.position)
        except SluiceError:
            return False
        return whole
