"""Chunks on their way into files: what a task of a dump does, in place of a slave's session."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from secrets import token_hex

from sluice.errors import SluiceError
from sluice.initial_update.files.encoding import Packing, message
from sluice.initial_update.files.journal import Journal
from sluice.initial_update.files.manifest import StoredChunk, StoredFile
from sluice.messages.message import Description
from sluice.model.names import TableName
from sluice.storage.directory import Directory
from sluice.vendors.protocol.read import RowFormat
from sluice.vendors.protocol.tasks import IntoFiles, Share


class FilesReceiver:
    """See `sluice.vendors.protocol.load.Receiver`: the chunks of one task's share, each in one or several files."""

    def __init__(self, into: IntoFiles, share: Share) -> None:
        self._into = into
        self._share = share
        self._directory = into.directory
        self._packing = Packing(into.form, into.key_file)
        self._notes = Journal(self._directory, self._packing, into.first)
        self._chunk = 0
        self._file: _File | None = None

    def open(self) -> None:
        """Look what is to come."""
        plan = self._notes.plan()
        self._chunks = len(plan.parts)
        self._mine = range(self._share.number, self._chunks, self._share.of)
        self._ended = {*self._notes.ended_chunks(), *plan.nothing}

    def claim_next(self) -> int | None:
        """The next chunk of this task's share."""
        chunk = next((chunk for chunk in self._mine if chunk not in self._ended), None)
        self._chunk = self._chunk if chunk is None else chunk
        return chunk

    def claim(self, chunk: int) -> bool:
        """Claim a chunk of this task's share: True unless it is stored already."""
        self._chunk = chunk
        return chunk not in self._ended

    def begin(self, table: TableName, form: RowFormat) -> None:
        """Begin a chunk."""
        self._table, self._form = table, form
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
        self._directory.flush([file.name for file in self._files])
        self._notes.fence(self._chunks)
        stored = StoredChunk(table=self._table, format=self._form, rows=rows, files=tuple(self._files))
        self._notes.end(chunk, stored)
        self._ended.add(chunk)

    def close(self) -> None:
        """End. What belongs to no chunk that was ended, the driver removes."""
        if self._file is not None:
            with suppress(SluiceError):
                self._file.close()

    def _next(self) -> _File:
        self._notes.fence(self._chunks)
        number, chunk, form = len(self._files), self._into.first + self._chunk, self._into.form
        name = f"{self._into.begin}-{chunk:08}-{number:08}-{self._attempt}.{form}"
        description = message(self._table, chunk, number, self._form)
        return _File(self._directory, name, self._into.max_bytes, self._packing, description)

    def _end_file(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            self._files.append(file.close())


class _File:
    """One file as it is written.

    Attributes:
        room: how many bytes may still come.
    """

    def __init__(
        self, directory: Directory, name: str, max_bytes: int, packing: Packing, description: Description
    ) -> None:
        self.room = max_bytes
        self._directory = directory
        self._name = name
        self._open = ExitStack()
        self._hashing = self._open.enter_context(directory.create(name))
        self._sink = packing.sink(self._hashing, name, description)

    def write(self, rest: memoryview) -> memoryview:
        """Write what there is room for; returns what is left."""
        taken = rest[: self.room]
        with self._directory.reachable("written to"):
            self._sink.write(taken)
        self.room -= len(taken)
        return rest[len(taken) :]

    def close(self) -> StoredFile:
        """End the file."""
        with self._open, self._directory.reachable("written to"):
            self._sink.close()
        return StoredFile(name=self._name, bytes=self._hashing.size, sha256=self._hashing.digest.hexdigest())
