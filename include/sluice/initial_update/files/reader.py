"""Rows out of a directory of initial data, in place of a master."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import pyarrow as pa

from sluice.errors import SluiceError
from sluice.initial_update.files.encoding import Packing
from sluice.initial_update.files.manifest import MANIFEST, StoredChunk, StoredDump, StoredFile
from sluice.storage.directory import Directory
from sluice.storage.private_files import private_copy
from sluice.vendors.protocol.read import TEXT, Chunk, RowFormat
from sluice.vendors.protocol.tasks import FromFiles


@contextmanager
def open_files(origin: FromFiles) -> Iterator[FilesReading]:
    """Open the directory, if its manifest has the expected SHA-256."""
    directory = origin.directory
    content = directory.read(MANIFEST)
    if hashlib.sha256(content).hexdigest() != origin.sha256:
        raise _changed_error(directory, MANIFEST)
    stored = StoredDump.model_validate_json(Packing(key_file=origin.key_file).decrypt(content, MANIFEST))
    yield FilesReading(directory, stored, Packing(stored.form, origin.key_file))


class FilesReading:
    """See `sluice.vendors.protocol.load.Chunks`."""

    def __init__(self, directory: Directory, stored: StoredDump, packing: Packing) -> None:
        self._directory = directory
        self._stored = stored
        self._packing = packing

    def chunk(self, chunk: Chunk, columns: Sequence[str], form: RowFormat) -> StoredRows:
        """The rows of a chunk, as they were stored: with the columns that the slave's view had then."""
        return StoredRows(self._directory, self._stored.chunks[chunk.number], self._packing)


class StoredRows:
    """See `sluice.vendors.protocol.load.CopyStream`.

    Attributes:
        rows: as the manifest has them.
    """

    def __init__(self, directory: Directory, stored: StoredChunk, packing: Packing) -> None:
        self._directory = directory
        self._stored = stored
        self._packing = packing
        self.rows = stored.rows

    def __iter__(self) -> Iterator[bytes]:
        """Raises SluiceError SLC-183, if a file is not what it was when all were checked."""
        if self._stored.format != TEXT:
            yield from self._bytes()
            return
        line = b""
        for buffer in self._bytes():
            # A line may have been cut where a file was full.
            whole, end, rest = buffer.rpartition(b"\n")
            if end:
                yield line + whole + end
                line = rest
            else:
                line += rest
        assert not line, "the last line has an end"

    def _bytes(self) -> Iterator[bytes]:
        for file in self._stored.files:
            yield from self._file_content(file)

    def _file_content(self, file: StoredFile) -> Iterator[bytes]:
        with ExitStack() as stack:
            # Nothing is unpacked of bytes that have not been hashed, every one of them.
            with self._directory.open(file.name) as stream:
                copy = stack.enter_context(private_copy(stream, file.bytes))
            if (copy.size, copy.sha256) != (file.bytes, file.sha256):
                raise _changed_error(self._directory, file.name)
            try:
                yield from self._packing.pieces(copy.file, file.name)
            except (OSError, ValueError, LookupError, pa.ArrowException):
                raise _changed_error(self._directory, file.name) from None


def _changed_error(directory: Directory, name: str) -> SluiceError:
    return SluiceError(
        183,
        f"{directory.url}/{name} is another file than it was when all of them were checked",
        "see who writes there. What is loaded stays; copy it again, and trigger receive_initial_files again",
    )
