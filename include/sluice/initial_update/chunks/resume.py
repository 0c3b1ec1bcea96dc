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
from sluice.initial_update.chunks.catch_up import await_published, expect_replayable, mergeable_tables, replay
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

    def find_piece(self, chunk: Chunk) -> tuple[ChunkId, int] | None:
        """The piece that a chunk is in, and how many rows it has; None if they are to come."""
        pieces = self._pieces_by_relation.get(chunk.leaf.relation, [])
        index = bisect_right(pieces, chunk.low, key=lambda piece: piece[0].low) - 1
        return pieces[index] if index >= 0 and pieces[index][0].contains(chunk) else None

    @cached_property
    def _pieces_by_relation(self) -> dict[TableName, list[tuple[ChunkId, int]]]:
        pieces_by_relation: dict[TableName, list[tuple[ChunkId, int]]] = {}
        for piece, rows in sorted(self.pieces, key=lambda piece: piece[0].low):
            pieces_by_relation.setdefault(piece.relation, []).append((piece, rows))
        return pieces_by_relation


def has_begun(store: Store, update: int) -> bool:
    """Whether an earlier try of an update has written down what it was to load."""
    with store.begin() as connection:
        query = select(initial_update.c.snapshot).where(initial_update.c.id == update)
        return connection.execute(query).scalar() is not None


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
        self._loaded: dict[str, LoadedTables] = {}

    def begin(self, target: LoadTarget) -> None:
        """Take over from earlier jobs on a slave, and find the rows that may stay."""
        self._shapes[target.name] = self._hash_tables(target)
        chunks = target.tables.begin()
        loaded = self._find_loaded(target, chunks) if self._wanted else LoadedTables(self._read_snapshot)
        if loaded.pieces and self._log_is_complete(loaded):
            # From here on the log has to be kept.
            restart(self._context, target.pairs, loaded.oldest.position, self._update)
            event("resumed", slave=target.name, chunks=len(loaded.pieces), rows=sum(rows for _, rows in loaded.pieces))
        else:
            loaded = LoadedTables(self._read_snapshot)
        self._loaded[target.name] = loaded

    def chunks(self) -> list[Chunk]:
        """The chunks to copy; loaded ones are read again for rows that were written since."""
        return self._chunks

    @cached_property
    def _chunks(self) -> list[Chunk]:
        loaded = self._loaded.values()
        boundaries: dict[TableName, set[int]] = {}
        for piece in (piece for tables in loaded for piece in tables.cuts):
            boundaries.setdefault(piece.relation, set()).update({piece.low, piece.high or 0})
        planned = chunks(self._leaves, self._context.config.bulk_tasks, self._stages, boundaries)
        again = [chunk for chunk in planned if any(tables.find_piece(chunk) for tables in loaded)]
        snapshots = [self._read_snapshot(tables.oldest.snapshot) for tables in loaded if tables.pieces]
        since = min(snapshots, key=lambda snapshot: snapshot.age).since if snapshots else None
        return planned + [replace(chunk, number=len(planned) + n, since=since) for n, chunk in enumerate(again)]

    def expected_chunks(self, target: LoadTarget) -> list[Expected]:
        """The chunks as one slave expects them."""
        loaded, shapes = self._loaded[target.name], self._shapes[target.name]
        return [
            self._expected_chunk(chunk, loaded.find_piece(chunk), shapes[chunk.leaf.table]) for chunk in self._chunks
        ]

    def _expected_chunk(self, chunk: Chunk, loaded_piece: tuple[ChunkId, int] | None, shape: str) -> Expected:
        if chunk.since is not None:
            return Expected(None, None if loaded_piece else 0)
        leaf, snapshot = chunk.leaf, self.shown
        new = ChunkId(leaf.relation, 0, None, shape, snapshot.snapshot, snapshot.position, self._update)
        piece, rows = loaded_piece or (new, None)
        if rows and piece.low != chunk.low:
            # What it is cut into has its rows together.
            rows = 0
        return Expected(replace(piece, low=chunk.low, high=chunk.high).to_json(), rows)

    def kept_tables(self, target: LoadTarget) -> frozenset[TableName]:
        """The tables of a slave that keep their rows."""
        return self._loaded[target.name].tables

    def catch_up(self, target: LoadTarget) -> None:
        """Bring the kept rows of a slave to this dump's snapshot, after all other rows are loaded. Kept files are
        brought there when they are loaded.

        Raises:
            SluiceError: SLC-080, no publisher runs; SLC-079, a command of that time may have changed rows.
        """
        loaded = self._loaded[target.name]
        if not loaded.pieces:
            return
        await_published(self._source, self.shown)
        overlap = Overlap(loaded.tables, loaded.oldest.position, loaded.oldest.snapshot, self.shown.snapshot)
        if isinstance(target.tables, StoredTables):
            target.tables.overlap = expect_replayable(self._context, self._source, overlap)
        else:
            replay(self._context, target, overlap)

    def incomplete_tables(self, target: LoadTarget) -> Collection[TableName]:
        """The tables of which nothing is loaded on this target."""
        return self._later

    def _hash_tables(self, target: LoadTarget) -> dict[TableName, str]:
        """Hash each table. The hash changes when its rows were moved, or are captured or seen differently."""
        view_hashes, hashes = fingerprints(target.tables.mapper, self._definitions), {}
        for table in self._definitions:
            files = [(leaf.relation, leaf.written_as) for leaf in self._leaves if leaf.table == table.name]
            text = repr((table, files, view_hashes[str(table.name)], target.plan.salt))
            hashes[table.name] = hashlib.sha256(text.encode()).hexdigest()
        return hashes

    def _find_loaded(self, target: LoadTarget, chunks: Sequence[Expected]) -> LoadedTables:
        """The loaded chunks with the shape of the current ones, in tables that can have rows of several snapshots."""
        hashes = self._shapes[target.name]
        pieces = [(ChunkId.from_json(chunk.part), chunk.rows) for chunk in chunks if chunk.part]
        existing = [
            (self._table_of[piece.relation], piece, rows) for piece, rows in pieces if piece.relation in self._table_of
        ]
        same_shape = [(table, piece, rows) for table, piece, rows in existing if hashes[table] == piece.shape]
        if not (begun_tables := {table for table, _, rows in same_shape if rows is not None}):
            return LoadedTables(self._read_snapshot)
        tables, definitions = target.tables, [table for table in self._definitions if table.name in begun_tables]
        names = mergeable_tables(self._context, self._source, tables.mapper, definitions, tables.merging)
        return LoadedTables(
            self._read_snapshot,
            frozenset(names),
            tuple((piece, rows) for table, piece, rows in same_shape if table in names and rows is not None),
            tuple(piece for table, piece, _ in same_shape if table in names),
        )

    def _log_is_complete(self, loaded: LoadedTables) -> bool:
        """Whether the log has everything that happened since the oldest snapshot of these rows."""
        updates = {piece.update for piece, _ in loaded.pieces}
        query = select(initial_update.c.id).where(
            initial_update.c.id.in_(updates), initial_update.c.snapshot.is_not(None)
        )
        with self._context.store.begin() as connection:
            whole = len(connection.execute(query).all()) == len(updates)
        try:
            self._context.manifest(self._source).ahead("", loaded.oldest.position)
        except SluiceError:
            return False
        return whole
