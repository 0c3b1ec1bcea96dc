"""A directory as a dump fills it, in place of a slave: chunks in files that sort as they are to be delivered."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from secrets import token_hex

from sluice.apply.mapper import Mapper
from sluice.control.transfers import Transfer
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.job import IntoFiles, LoadJob, Share
from sluice.initial_update.packing import Packing, message
from sluice.initial_update.place import Place
from sluice.initial_update.signing import SIGNATURE, private_key
from sluice.initial_update.stored import MANIFEST, StoredChunk, StoredDump, StoredFile, Views
from sluice.log import event
from sluice.messages.message import Description
from sluice.model.names import Pair, TableName
from sluice.model.position import Position, Snapshot
from sluice.model.sequence import SequenceValue
from sluice.parts import Outgoing
from sluice.vendors.dumping import Expected, TableDefinition

# The guide's priority of initial data: before all else that is sent to a slave.
_PRIORITY = 9
_DONE = re.compile(r"^(\d+)\.(\d+)\.done$")


@dataclass(frozen=True)
class Destination:
    """A slave that a directory is for.

    Attributes:
        views: what it sees of the tables that it gets.
        seen: the same of all tables, see `fingerprints`.
        as_text: tables whose rows it takes as text alone.
    """

    pair: Pair
    mapper: Mapper
    views: Views
    seen: dict[str, str]
    as_text: set[TableName]

    def gets_like(self, other: Destination) -> bool:
        """Whether both get the same rows, in the same format."""
        same = self.views.keys() == other.views.keys() and self.as_text == other.as_text
        return same and all(one.reads_like(other.views[name]) for name, one in self.views.items())


class StoredTables:
    """See `sluice.vendors.dumping.SlaveTables`: what becomes of rows until they are loaded elsewhere."""

    def __init__(
        self,
        place: Place,
        name: str,
        settings: Outgoing,
        update: int,
        slaves: Sequence[Destination],
        tables: Sequence[TableDefinition],
    ) -> None:
        packing = Packing("xml" if settings.as_xml else "zst", settings.key_file)
        self.into = IntoFiles(place.url, f"{_PRIORITY}-{name}", packing.payload(settings.max_bytes), packing)
        self.mapper: Mapper = slaves[0].mapper
        self.as_text: set[TableName] = slaves[0].as_text
        self.upserted: set[TableName] = set()
        self._place = place
        self._sign_with = settings.sign_with
        self._name = name
        self._update = update
        self._slaves = slaves
        self._definitions = tables
        self._nothing: list[int] = []
        self._written = b""
        self._files = 0

    def begin(self) -> Sequence[Expected]:
        """Nothing is there yet."""
        return ()

    def merging(self, tables: Sequence[TableDefinition], *, made: bool = False) -> set[TableName]:
        """None of them."""
        return set()

    def expect(self, chunks: Sequence[Expected]) -> None:
        """Tasks share chunks out by their numbers; of some there is nothing for these slaves."""
        self._nothing = [number for number, one in enumerate(chunks) if one.rows is not None]

    def prepare(
        self,
        tables: Sequence[TableDefinition],
        staying: Collection[TableName] = (),
        in_parts: Collection[TableName] = (),
    ) -> None:
        """Make the directory, if it can be signed when all is in it."""
        if self._sign_with:
            private_key(self._sign_with)
        self._place.make()

    def finish(self, tables: Sequence[TableDefinition], tasks: int) -> None:
        """How all tables are made is written into the manifest."""

    def imported(self, tables: Sequence[TableDefinition]) -> set[TableName]:
        """No program imports into files."""
        return set()

    def follow(self, sequences: Sequence[SequenceValue]) -> None:
        """So is how far sequences have come."""
        self._sequences = sequences

    def begin_stream(self, position: Position, snapshot: Snapshot) -> None:
        """All is stored: write the manifest. Before it there is nothing that a slave could load."""
        done = _done(self._place)
        stored = StoredDump(
            source=self._slaves[0].pair.source,
            update=self._update,
            form=self.into.packing.form,
            slaves={one.pair.slave: one.seen for one in self._slaves},
            snapshot=snapshot.text,
            segment=position.segment,
            ordinal=position.ordinal,
            definitions=[one.to_json() for one in self._definitions],
            sequences=[one.to_json() for one in self._sequences],
            chunks=tuple(StoredChunk.model_validate_json(self._place.read(done[number][0])) for number in sorted(done)),
        )
        kept = {file.name for file in stored.files}
        # What tasks left that were tried again, and what they told us.
        self._place.remove([name for name in self._place.files() if name not in kept])
        self._files = len(kept) + (2 if self._sign_with else 1)
        written = self.into.packing.closed(stored.written(), MANIFEST)
        if self._sign_with:
            self._place.write(SIGNATURE, private_key(self._sign_with).sign(written))
        self._place.write(MANIFEST, written)
        self._written = written

    def transfer(self, pair: Pair) -> Transfer:
        """What a slave waits for from now on."""
        sha256 = hashlib.sha256(self._written).hexdigest()
        return Transfer(pair, self._update, self._place.url, self._name, sha256, self._files)

    def progress(self) -> dict[int, int]:
        """The chunks that are stored, and how many rows each has."""
        rows = {number: rows for number, (_, rows) in _done(self._place).items()}
        return dict.fromkeys(self._nothing, 0) | rows

    def close(self) -> None:
        """Leave nothing behind of a dump that was not ended."""
        if not self._written:
            try:
                self._place.remove_all()
            except TransientError as error:
                event("left behind", directory=self._place.url, why=error.fact)


class FilesReceiver:
    """See `sluice.vendors.dumping.Receiver`: the chunks of one task's share, each in one or several files.

    Args:
        tables: those of which something is to come.
    """

    def __init__(self, job: LoadJob, into: IntoFiles, share: Share, tables: Collection[TableName]) -> None:
        self._into = into
        self._place = Place(into.url)
        self._nothing = [number for number, one in enumerate(job.chunks) if one.leaf.table not in tables]
        self._mine = range(share.number, len(job.chunks), share.of)
        self._chunk = 0
        self._file: _File | None = None

    def open(self) -> None:
        """Look what an earlier attempt has done."""
        self._ended = {*_done(self._place), *self._nothing}

    def claim_next(self) -> int | None:
        """The next chunk of this task's share."""
        chunk = next((chunk for chunk in self._mine if chunk not in self._ended), None)
        self._chunk = self._chunk if chunk is None else chunk
        return chunk

    def claim(self, chunk: int) -> bool:
        """This very chunk, which is in the share of whoever asks."""
        self._chunk = chunk
        return chunk not in self._ended

    def begin(self, table: TableName, *, binary: bool) -> None:
        """Begin a chunk."""
        self._table, self._binary = table, binary
        self._files: list[StoredFile] = []
        # Never the name of an earlier attempt, whose last bytes may still be on their way.
        self._attempt = token_hex(4)

    def write(self, buffer: bytes) -> None:
        """Write some rows, over as many files as they take."""
        rest = memoryview(buffer)
        while rest:
            if self._file is None:
                self._file = self._next()
            rest = self._file.write(rest)
            if not self._file.room:
                self._end_file()

    def end(self, chunk: int, rows: int) -> None:
        """Make the chunk durable, and say so."""
        self._end_file()
        self._place.flush([file.name for file in self._files])
        stored = StoredChunk(table=self._table, binary=self._binary, rows=rows, files=tuple(self._files))
        self._place.write(f"{chunk:08}.{rows}.done", stored.model_dump_json().encode())
        self._ended.add(chunk)

    def close(self) -> None:
        """End. What belongs to no chunk that was ended, the driver removes."""
        if self._file is not None:
            with suppress(SluiceError):
                self._file.close()

    def _next(self) -> _File:
        number, form = len(self._files), self._into.packing.form
        name = f"{self._into.begin}-{self._chunk:08}-{number:08}-{self._attempt}.{form}"
        said = message(self._table, self._chunk, number, binary=self._binary)
        return _File(self._place, name, self._into, said)

    def _end_file(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            self._files.append(file.close())


class _File:
    """One file as it is written.

    Attributes:
        room: how many bytes may still come.
    """

    def __init__(self, place: Place, name: str, into: IntoFiles, said: Description) -> None:
        self.room = into.max_bytes
        self._place = place
        self._name = name
        self._open = ExitStack()
        self._hashing = self._open.enter_context(place.writing(name))
        self._sink = into.packing.sink(self._hashing, name, said)

    def write(self, rest: memoryview) -> memoryview:
        """Write what there is room for; returns what is left."""
        taken = rest[: self.room]
        with self._place.reachable("written to"):
            self._sink.write(taken)
        self.room -= len(taken)
        return rest[len(taken) :]

    def close(self) -> StoredFile:
        """End the file."""
        with self._open, self._place.reachable("written to"):
            self._sink.close()
        return StoredFile(name=self._name, bytes=self._hashing.size, sha256=self._hashing.digest.hexdigest())


def _done(place: Place) -> dict[int, tuple[str, int]]:
    """The chunks that tasks have ended, each with the name of what they said of it, and its rows; once, if it is in
    twice."""
    return {int(found[1]): (name, int(found[2])) for name in place.files() if (found := _DONE.match(name))}
