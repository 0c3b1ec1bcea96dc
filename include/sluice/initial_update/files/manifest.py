"""The manifest of a directory of initial data: written last, and validated as untrusted input."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sluice.apply.mapping.table_view import TableView, view
from sluice.config.mapper import Mapper
from sluice.config.models import IncomingFiles
from sluice.drain.catch_up import Overlap
from sluice.errors import SluiceError
from sluice.initial_update.files.encoding import Packing
from sluice.initial_update.files.signature import SIGNATURE, expect_signed
from sluice.model.names import TableName
from sluice.model.position import Position, Snapshot
from sluice.model.sequence import SequenceValue
from sluice.storage.directory import Directory
from sluice.store.transfers import Transfer
from sluice.vendors.protocol.load import TableDefinition
from sluice.vendors.protocol.read import Chunk, Leaf, RowFormat
from sluice.vendors.protocol.tasks import Form
from sluice.vendors.protocol.visibility import ReadSnapshot

MANIFEST = "manifest.json"
_MORE = 5

# As the vendor of the master writes it, which also says whether it is one.
_Snapshot = Annotated[str, Field(pattern=r"^[!-~]+$")]
Views = Mapping[TableName, TableView]


class _ManifestPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StoredFile(_ManifestPart):
    """A piece of a chunk: at most so many bytes of what COPY gave as the configuration says, compressed."""

    name: Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z._\-]*$", max_length=255)]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class StoredChunk(_ManifestPart):
    """Rows of one table; its files, one after the other, are one stream of rows in its format."""

    table: TableName
    format: Annotated[RowFormat, Field(pattern=r"^[a-z][a-z0-9\-]*$", max_length=63)]
    rows: Annotated[int, Field(ge=0)]
    files: tuple[StoredFile, ...]

    @property
    def bytes(self) -> int:
        """The size of its files."""
        return sum(file.bytes for file in self.files)


class StoredOverlap(_ManifestPart):
    """Tables with chunks of several snapshots: the first snapshot is stored here, the last one is the dump's.

    Attributes:
        segment, ordinal: the end of the log before it.
        last_segment, last_ordinal: from here on the log has all that the last one shows.
    """

    tables: tuple[TableName, ...]
    snapshot: _Snapshot
    segment: int
    ordinal: int
    last_segment: int
    last_ordinal: int

    @classmethod
    def from_overlap(cls, overlap: Overlap) -> StoredOverlap:
        """As a manifest has it."""
        assert overlap.end
        return cls(
            tables=tuple(sorted(overlap.tables)),
            snapshot=overlap.first.text,
            segment=overlap.begin.segment,
            ordinal=overlap.begin.ordinal,
            last_segment=overlap.end.segment,
            last_ordinal=overlap.end.ordinal,
        )


class StoredDump(_ManifestPart):
    """The manifest.

    Attributes:
        slaves: which may load it, each with what it sees of the tables, see `fingerprints`.
        form: how pieces stand in files.
        snapshot, segment, ordinal: what the dump saw, and where the log ended before (R5).
        definitions: how the master's tables are made, as its vendor writes it.
        sequences: how far the master's sequences had come.
        chunks: in the order of delivery.
        overlap: of what time some of them are, if the dump went on where another one had broken off.
    """

    version: Literal[1] = 1
    source: str
    update: int
    form: Form = "zst"
    slaves: dict[str, dict[str, str]]
    snapshot: _Snapshot
    segment: int
    ordinal: int
    definitions: list[Any]
    sequences: tuple[SequenceValue, ...]
    chunks: tuple[StoredChunk, ...]
    overlap: StoredOverlap | None = None

    @property
    def position(self) -> Position:
        """The end of the log before the snapshot."""
        return Position(self.segment, self.ordinal)

    @property
    def dump_snapshot(self) -> Snapshot:
        """The snapshot of the dump."""
        return Snapshot(self.snapshot)

    @property
    def log_overlap(self) -> Overlap | None:
        """The time between the snapshots of its chunks, if they have several."""
        if (overlap := self.overlap) is None:
            return None
        begin, end = Position(overlap.segment, overlap.ordinal), Position(overlap.last_segment, overlap.last_ordinal)
        return Overlap(frozenset(overlap.tables), begin, Snapshot(overlap.snapshot), self.dump_snapshot, end)

    @property
    def files(self) -> Iterator[StoredFile]:
        """Every file of every chunk."""
        return (file for chunk in self.chunks for file in chunk.files)

    @property
    def plan(self) -> list[Chunk]:
        """The chunks as they are claimed, about as large as their files."""
        return [
            Chunk(number, Leaf(chunk.table, chunk.table, chunk.bytes, 1), 0, None, stored=chunk.format)
            for number, chunk in enumerate(self.chunks)
        ]

    def to_json(self) -> bytes:
        """The manifest as a file."""
        return self.model_dump_json(indent=1).encode()


def fingerprints(mapper: Mapper, tables: Iterable[TableDefinition]) -> dict[str, str]:
    """A hash of the slave's view of each table: equal for views with the same rows; empty for excluded tables."""
    return {
        str(table.name): "" if mapper.excludes(table.name) else _hash(view(mapper, table.layout)) for table in tables
    }


def _hash(table_view: TableView) -> str:
    """Hash everything that decides about the rows, and nothing that another version of Sluice writes differently."""
    settings = table_view.entry.model_dump(include={"where", "compute", "mask", "plugin"}, exclude_defaults=True)
    style = table_view.style.text.hex() if table_view.style else None
    text = json.dumps(
        [str(table_view.layout.name), table_view.read_columns, table_view.written_columns, settings, style],
        sort_keys=True,
        default=sorted,
    )
    return hashlib.sha256(text.encode()).hexdigest()


def read_manifest(
    directory: Directory, awaited: Transfer, settings: IncomingFiles, read_snapshot: ReadSnapshot
) -> StoredDump:
    """Read and check the manifest of the directory that a slave waits for.

    Args:
        read_snapshot: reads snapshots of the master.

    Raises:
        SluiceError: SLC-183, it is not there; it is not as it was written; it belongs to another
            dump; SLC-192, it lacks a signature that is required; it was encrypted with another key.
    """
    if MANIFEST not in (files := directory.files()):
        raise incomplete_error(directory, [MANIFEST], awaited)
    content = directory.read(MANIFEST)
    whole = hashlib.sha256(content).hexdigest() == awaited.sha256
    if whole and settings.signed_by:
        signature = directory.read(SIGNATURE) if SIGNATURE in files else None
        expect_signed(content, signature, settings.signed_by, directory.url)
    try:
        stored = StoredDump.model_validate_json(Packing(key_file=settings.key_file).decrypt(content, MANIFEST))
    except SluiceError:
        # Nobody can open what was damaged.
        if whole:
            raise
        raise _hash_error(directory, awaited) from None
    except ValidationError as error:
        raise altered_error(directory, [f"{MANIFEST} cannot be read ({error.error_count()} faults)"], awaited) from None
    is_other = (stored.source, stored.update) != (awaited.pair.source, awaited.update)
    if not whole and (is_other or awaited.pair.slave not in stored.slaves):
        raise SluiceError(
            183,
            f"{directory.url} holds update {stored.update} of {stored.source} for {', '.join(stored.slaves)}, and "
            f"{awaited.pair} waits for update {awaited.update}",
            f"nothing was loaded; remove it, copy {awaited.url} instead, and run this again",
        )
    if not whole:
        raise _hash_error(directory, awaited)
    try:
        for snapshot in (stored.dump_snapshot, *([stored.log_overlap.first] if stored.log_overlap else [])):
            read_snapshot(snapshot)
    except ValueError as error:
        raise altered_error(directory, [f"a snapshot in {MANIFEST} cannot be read: {error}"], awaited) from None
    return stored


def _hash_error(directory: Directory, awaited: Transfer) -> SluiceError:
    return altered_error(directory, [f"{MANIFEST} has another SHA-256 than when it was written"], awaited)


def incomplete_error(directory: Directory, missing: Collection[str], awaited: Transfer) -> SluiceError:
    """The error for a directory that lacks files."""
    return SluiceError(
        183,
        f"{directory.url} lacks {len(missing)} of {awaited.files} files, {min(missing)} among them",
        f"the slave keeps what it has; copy the rest from {awaited.url}, then run this again",
    )


def altered_error(directory: Directory, faults: list[str], awaited: Transfer) -> SluiceError:
    """The error for a directory that is not as it was written. Nothing of it is loaded."""
    more = f" and {len(faults) - _MORE} more" if len(faults) > _MORE else ""
    return SluiceError(
        183,
        f"{directory.url} is not as it was written: {'; '.join(faults[:_MORE])}{more}",
        f"the slave keeps what it has; copy these again from {awaited.url}, then run this again",
    )
