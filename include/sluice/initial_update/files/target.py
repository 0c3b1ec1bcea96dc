"""A directory as a dump fills it, in place of a slave: chunks in files that sort as they are to be delivered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from sluice.config.mapper import Mapper
from sluice.config.models import OutgoingFiles
from sluice.drain.catch_up import Overlap
from sluice.errors import SluiceError
from sluice.initial_update.chunks.chunk_id import ChunkId
from sluice.initial_update.files.encoding import Packing
from sluice.initial_update.files.journal import NOTES, DumpPlan, InterruptedDump, Journal
from sluice.initial_update.files.manifest import MANIFEST, StoredChunk, StoredDump, StoredOverlap, Views
from sluice.initial_update.files.signature import SIGNATURE, private_key
from sluice.log import event
from sluice.model.names import Pair, TableName
from sluice.model.position import Position, Snapshot
from sluice.model.sequence import SequenceValue
from sluice.storage.directory import Directory
from sluice.store.transfers import Transfer
from sluice.vendors.protocol.load import Expected, TableDefinition
from sluice.vendors.protocol.read import TakenFormats
from sluice.vendors.protocol.tasks import IntoFiles

# The guide's priority of initial data: before all else that is sent to a slave.
_PRIORITY = 9


@dataclass(frozen=True)
class Destination:
    """A slave that a directory is for.

    Attributes:
        views: what it sees of the tables that it gets.
        fingerprints: of its views of all tables, see `manifest.fingerprints`.
        formats: in which formats it takes rows.
        merging: asks it into which of some tables rows of several snapshots may come.
    """

    pair: Pair
    mapper: Mapper
    views: Views
    fingerprints: dict[str, str]
    formats: TakenFormats
    merging: Callable[[Sequence[TableDefinition]], set[TableName]]

    def gets_like(self, other: Destination) -> bool:
        """Whether both get the same rows, in the same format."""
        same = self.views.keys() == other.views.keys() and self.formats == other.formats
        return same and all(table_view.reads_like(other.views[name]) for name, table_view in self.views.items())


class StoredTables:
    """See `sluice.vendors.protocol.load.SlaveTables`: what becomes of rows until they are loaded elsewhere.

    Attributes:
        overlap: of what time some of the chunks are, if not all are of the dump's snapshot.

    Args:
        interrupted: the dump that broke off in this directory.
        lasting: another dump may resume this one, if it breaks off.
    """

    def __init__(
        self,
        directory: Directory,
        name: str,
        settings: OutgoingFiles,
        update: int,
        slaves: Sequence[Destination],
        tables: Sequence[TableDefinition],
        interrupted: InterruptedDump | None = None,
        *,
        lasting: bool = True,
    ) -> None:
        packing, first = outgoing_packing(settings), interrupted.next if interrupted else 0
        self._packing = packing
        self.into = IntoFiles(
            directory,
            f"{_PRIORITY}-{name}",
            packing.payload(settings.max_bytes),
            packing.form,
            packing.key_file,
            first,
        )
        self.mapper: Mapper = slaves[0].mapper
        self.formats = slaves[0].formats
        self.upserted: set[TableName] = set()
        self.overlap: Overlap | None = None
        self._directory = directory
        self._notes = Journal(directory, packing, first)
        self._sign_with = settings.sign_with
        self._name = name
        self._update = update
        self._slaves = slaves
        self._definitions = tables
        self._interrupted = interrupted
        self._lasting = lasting
        self._whole: dict[tuple[TableName, int], tuple[str, str]] = {}
        self._stored: dict[str, StoredChunk] = {}
        self._kept: list[tuple[str, str]] = []
        self._chunks: Sequence[Expected] = ()
        self._written = b""
        self._files = 0

    def begin(self) -> Sequence[Expected]:
        """The chunks that earlier tries stored completely, in a format that is still readable."""
        return (
            [Expected(part, self._rows(part, note)) for part, note in self._interrupted.chunks()]
            if self._interrupted
            else ()
        )

    def _rows(self, part: str, note: str | None) -> int | None:
        stored = self._interrupted.notes.read_chunk(note) if self._interrupted and note else None
        if stored is None or note is None or not self.formats.takes(stored.table, stored.format):
            return None
        if any(self._stored_files.get(file.name) != file.bytes for file in stored.files):
            return None
        self._whole[ChunkId.from_json(part).start] = note, part
        self._stored[note] = stored
        return stored.rows

    @cached_property
    def _stored_files(self) -> dict[str, int]:
        return self._directory.files()

    def merging(self, tables: Sequence[TableDefinition], *, made: bool = False) -> set[TableName]:
        """The tables that can have rows of several snapshots on every slave that can be asked."""
        return set.intersection(*(destination.merging(tables) for destination in self._slaves))

    def expect(self, chunks: Sequence[Expected]) -> None:
        """Tasks share chunks out by their numbers; some stay, and of others there is nothing for these slaves."""
        self._chunks = chunks
        begin = {ChunkId.from_json(chunk.part).start for chunk in chunks if chunk.part and chunk.rows is not None}
        self._kept = [kept for begins, kept in self._whole.items() if begins in begin]

    def prepare(
        self,
        tables: Sequence[TableDefinition],
        staying: Collection[TableName] = (),
        in_parts: Collection[TableName] = (),
    ) -> None:
        """Make the directory, if it can be signed when all is in it, and write down what is to come."""
        if self._sign_with:
            private_key(self._sign_with)
        slaves = tuple(destination.pair.slave for destination in self._slaves) if self._lasting else ()
        parts = tuple(chunk.part for chunk in self._chunks)
        source, form = self._slaves[0].pair.source, self._packing.form
        self._notes.begin(
            DumpPlan(
                source=source,
                slaves=slaves,
                form=form,
                parts=parts,
                nothing=frozenset(self._stored_rows),
                kept=tuple(self._kept),
            )
        )

    def finish(self, tables: Sequence[TableDefinition], tasks: int, lacking: Collection[TableName] = ()) -> None:
        """Nothing to do: the manifest has the definitions of all tables."""

    def imported(self, tables: Sequence[TableDefinition]) -> set[TableName]:
        """No program imports into files."""
        return set()

    def follow(self, sequences: Sequence[SequenceValue]) -> None:
        """Keep the values of sequences for the manifest."""
        self._sequences = sequences

    def begin_stream(self, position: Position, snapshot: Snapshot) -> None:
        """All is stored: write the manifest. Before it there is nothing that a slave could load.

        Raises:
            FencedError: SLC-050, another try went on with this directory.
        """
        self._notes.fence(len(self._chunks))
        ended, overlap = self._notes.ended_chunks(), self.overlap
        new = [self._notes.read_chunk(ended[number][0]) for number in sorted(ended)]
        stored = StoredDump(
            source=self._slaves[0].pair.source,
            update=self._update,
            form=self._packing.form,
            slaves={destination.pair.slave: destination.fingerprints for destination in self._slaves},
            snapshot=snapshot.text,
            segment=position.segment,
            ordinal=position.ordinal,
            definitions=[table.to_json() for table in self._definitions],
            sequences=tuple(self._sequences),
            chunks=(*(self._stored[note] for note, _ in self._kept), *new),
            overlap=StoredOverlap.from_overlap(overlap) if overlap else None,
        )
        kept = {file.name for file in stored.files}
        # What tasks left that were tried again.
        others = [name for name in self._directory.files() if name not in kept and not name.startswith(f"{NOTES}/")]
        self._directory.remove(others)
        self._files = len(kept) + (2 if self._sign_with else 1)
        written = self._packing.encrypt(stored.to_json(), MANIFEST)
        if self._sign_with:
            self._directory.write(SIGNATURE, private_key(self._sign_with).sign(written))
        self._directory.write(MANIFEST, written)
        self._notes.remove()
        self._written, self._begins = written, self.log_start(position)

    def log_start(self, position: Position) -> Position:
        """The position from which the log has to be kept for slaves that load this."""
        return self.overlap.begin if self.overlap else position

    def transfer(self, pair: Pair) -> Transfer:
        """The transfer that a slave waits for from now on."""
        sha256 = hashlib.sha256(self._written).hexdigest()
        return Transfer(pair, self._update, self._directory.url, self._name, sha256, self._files, self._begins)

    def progress(self) -> dict[int, int]:
        """The chunks that are stored, and how many rows each has."""
        return self._stored_rows | {number: rows for number, (_, rows) in self._notes.ended_chunks().items()}

    def close(self) -> None:
        """Leave nothing behind of a dump that was not ended, but what another one may go on with."""
        if self._written:
            return
        try:
            if self._lasting and (
                self._interrupted or self._notes.ended_chunks() or self._notes.is_taken_over(len(self._chunks))
            ):
                event("left", directory=self._directory.url, why="initial_update goes on with it, with `resume`")
            else:
                self._directory.remove_all()
        except SluiceError as error:
            event("left behind", directory=self._directory.url, why=error.fact)

    @property
    def _stored_rows(self) -> dict[int, int]:
        return {number: chunk.rows for number, chunk in enumerate(self._chunks) if chunk.rows is not None}


def outgoing_packing(settings: OutgoingFiles) -> Packing:
    """The encoding of a source's files."""
    return Packing("xml" if settings.as_xml else "zst", settings.key_file)
