"""The interface of vendors for initial updates: the master's tables in one snapshot, and the slave's tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from zlib import crc32

from sluice.model.names import Pair, TableName
from sluice.model.position import Position, Snapshot
from sluice.vendors.protocol.read import Chunk, Key, KeyRange, Leaf, RowFormat, TakenFormats

if TYPE_CHECKING:
    from sluice.apply.mapping.table_view import TableView
    from sluice.config.mapper import Mapper
    from sluice.connections import ConnectionInfo
    from sluice.model.layout import Layout
    from sluice.model.sequence import SequenceValue


@dataclass(frozen=True)
class Programs:
    """The settings of a vendor for programs that export from a database, or import into it.

    Attributes:
        command: the one that comes with it; for its places see `initial_program` in the configuration.
        environment: by which programs reach a database, under an application's name. They find the password in a file,
            in a private directory; `silent`: what they write fires no triggers.
        quoted: a name as its programs read it.
        expect_safe: see that this command can refuse to send the password in clear, where it has to; raises SluiceError
            SLC-684.
        snapshot: an exported snapshot as they import it, from the id by which our sessions do.
    """

    command: tuple[str, ...]
    environment: Callable[[ConnectionInfo, str, Path, bool], Mapping[str, str]]
    quoted: Callable[[TableName], str]
    expect_safe: Callable[[ConnectionInfo, Sequence[str]], None]
    snapshot: Callable[[str], str] = str


def importing(pair: Pair) -> str:
    """The application name of programs that fill a slave, short enough for every server."""
    return f"import {pair.slave} {crc32(pair.source.encode()):08x}"


@dataclass
class TableFit:
    """The result of checking a slave's tables for the rows of the master's.

    Attributes:
        formats: in which formats they take them.
        warnings: what is worth knowing of them.
    """

    formats: TakenFormats = field(default_factory=TakenFormats)
    warnings: list[str] = field(default_factory=list)


class TableDefinition(Protocol):
    """A table of the master as a dump's snapshot shows it.

    Its layout is what every vendor understands: columns with logical types, which may be NULL, the primary key. The
    rest (defaults, checks, indexes) is the vendor's own text, which a slave of the same vendor reads.
    """

    @property
    def name(self) -> TableName:
        """The table, as the master calls it."""

    @property
    def layout(self) -> Layout:
        """Its columns, with the log's names of types; see `sluice.model.logical_type`."""

    @property
    def formats(self) -> Sequence[RowFormat]:
        """The formats in which the master gives its rows, the fastest first and `TEXT` last."""

    def to_json(self) -> dict[str, Any]:
        """A plain form for the manifest."""


# For tables what the order of their keys depends on, column by column; None if unknown.
Sorted = Mapping[TableName, Sequence[str | None]]
# A point of the log, and the snapshot that shows exactly what is before it.
At = Callable[[], tuple[Position, str]]


class DumpSnapshot(Protocol):
    """A snapshot held open for a dump; see R5 for the order in which it is taken."""

    id: str
    snapshot: Snapshot
    position: Position

    def keep_locked(self, unread: Collection[TableName]) -> None:
        """Unlock tables of which no row is to be read any more: those that come before the first of `unread`.

        Raises:
            TransientError: SLC-030, they are locked no more.
        """

    def expect_complete(self) -> None:
        """See that no watched table is missing in it. Raises TransientError SLC-095: one was made at this moment."""

    def definitions(self) -> Sequence[TableDefinition]:
        """The tables."""

    def leaves(self) -> list[Leaf]:
        """The relations that hold their rows, in the order in which they are to be read."""

    def published(self) -> bool:
        """Whether the change log has everything that the snapshot shows."""

    def dropped(self) -> list[str]:
        """The DROPs that it shows and that are not published yet, in order: the texts that they carry."""

    def filled(self) -> set[TableName]:
        """The tables that have rows in it."""

    def order(self, table: TableName) -> str | None:
        """The order of a table's keys; None if it has no primary key that identifies and sorts its rows."""

    def sorting(self, table: TableName) -> Sequence[str | None]:
        """For each column of its key a text that identifies its sort order on any server; None if unknown."""

    def cuts(self, within: KeyRange, parts: int) -> list[Key]:
        """The keys at which a range is cut into parts, about as large as each other; none if its table is small."""

    def expect_bounds(self, within: KeyRange) -> None:
        """See that the bounds of a range are keys. Raises SluiceError SLC-640 if not."""


class CopyStream(Protocol):
    """Rows on their way, in buffers of whole rows in one format; how many there were is known at the end."""

    rows: int

    def __iter__(self) -> Iterator[bytes]:
        r"""The buffers. In the format `TEXT` each row is a line: values between tabs, escaped, NULL as ``\N``."""


class Chunks(Protocol):
    """The origin of the rows of a dump."""

    def chunk(self, chunk: Chunk, columns: Sequence[str], form: RowFormat) -> CopyStream:
        """The rows of a chunk."""


class Reading(Chunks, Protocol):
    """A master's rows, as an exported snapshot shows them.

    Attributes:
        keyed_by_text: `keyed` finds a row only by the very texts in which it gives the values of its key.
    """

    keyed_by_text: bool

    def table(self, name: TableName, columns: Sequence[str]) -> CopyStream:
        """Every row of a table, in the text format, in no order."""

    def keyed(self, name: TableName, columns: Sequence[str], key: Sequence[str], wanted: Sequence[Key]) -> CopyStream:
        """The rows of these keys, in the text format.

        Args:
            key: the columns of the key.
        """

    def shape(self, within: KeyRange) -> Layout | None:
        """The columns of a range's table and its key, under the name that it has by now; None if it was dropped."""

    def block(self, within: KeyRange, columns: Sequence[str], rows: int) -> tuple[CopyStream, Key | None]:
        """The next so many rows of a range, in the text format; with the key of the last, None if no more follow.

        Raises:
            SluiceError: SLC-079, keys are sorted otherwise than when the range was begun.
            TransientError: SLC-095, the table was rewritten since.
        """


class Receiver(Protocol):
    """A slave that one task fills: chunks that are claimed, written, and committed with their claim (R3, R6)."""

    def open(self) -> None:
        """Begin."""

    def claim_next(self) -> int | None:
        """Claim a chunk that the slave lacks, after those that others hold; None if it lacks none."""

    def claim(self, chunk: int) -> bool:
        """Claim this very chunk, if the slave lacks it."""

    def begin(self, table: TableName, form: RowFormat) -> None:
        """Begin to write rows of the chunk that is claimed, with the columns that the slave's view copies, in order.

        Args:
            table: as the master calls it.
        """

    def write(self, buffer: bytes) -> None:
        """Write some rows."""

    def end(self, chunk: int, rows: int) -> None:
        """Commit the rows and record the chunk. Raises FencedError if another job took over."""

    def close(self) -> None:
        """End, without what was not committed."""


@dataclass(frozen=True)
class Expected:
    """A chunk, as a slave keeps it while it is filled.

    Attributes:
        part: what it holds, in words of the dump; None if that is of no use to a later one.
        rows: how many are in; None if they are to come.
    """

    part: str | None
    rows: int | None = None


class SlaveTables(Protocol):
    """A slave's tables during an initial update, fenced by the dump's epoch.

    Attributes:
        formats: in which formats tables take rows; `prepare` finds out.
        upserted: tables with rows of the slave's, of which those become the master's that bear a key of his.
    """

    mapper: Mapper
    formats: TakenFormats
    upserted: set[TableName]

    def begin(self) -> Sequence[Expected]:
        """Fence out earlier jobs; returns the chunks of an interrupted load."""

    def merging(self, tables: Sequence[TableDefinition], *, made: bool = False) -> set[TableName]:
        """The tables whose rows may come twice, and from several snapshots, since a key alone tells them apart (R5).

        Args:
            made: also those that are not there, and are to be made.
        """

    def expect(self, chunks: Sequence[Expected]) -> None:
        """Write down the chunks, by their numbers, for tasks to claim those to come; others are forgotten."""

    def prepare(
        self,
        tables: Sequence[TableDefinition],
        staying: Collection[TableName] = (),
        in_parts: Collection[TableName] = (),
    ) -> None:
        """Create what is missing, refuse what cannot hold the data, empty what is there, but what is `staying`.

        Args:
            in_parts: tables whose rows come from several sessions at once.
        """

    def finish(self, tables: Sequence[TableDefinition], tasks: int, lacking: Collection[TableName] = ()) -> None:
        """Keys and indexes that were left for later, of so many tables at once, when every chunk is in.

        Args:
            lacking: tables that lack rows yet, so what has to do with them is left for later still.
        """

    def imported(self, tables: Sequence[TableDefinition]) -> set[TableName]:
        """A program has brought its rows: make primary keys, before what else comes after the data. Which of the
        tables have rows, as the master calls them.
        """

    def follow(self, sequences: Sequence[SequenceValue]) -> None:
        """Let the sequences give out nothing that the master's have given out."""

    def begin_stream(self, position: Position, snapshot: Snapshot) -> None:
        """From here on the stream, without what the snapshot saw."""

    def progress(self) -> Mapping[int, int]:
        """The chunks that are in, by their numbers, and how many rows each has."""

    def close(self) -> None:
        """End the session."""


class SlaveRanges(Protocol):
    """The ranges of a slave that are loaded block by block while the stream goes on."""

    def unfit(
        self, tables: Sequence[TableDefinition], chosen: Collection[TableName], replaced: Sorted, *, build: bool
    ) -> dict[TableName, str]:
        """The chosen tables that cannot be loaded in blocks, each with the reason.

        Args:
            tables: the definitions of all that are watched.
            replaced: those of which rows between two keys are replaced.
            build: indexes first that an earlier load put off. If not, tables that lack some are taken as fit.
        """

    def expect(self, epoch: int, update: int, ranges: Sequence[KeyRange]) -> None:
        """Write down what an update is to load, in place of all that was to be loaded; under the dump's fence."""

    def found(self, update: int) -> list[KeyRange]:
        """The key ranges to load and their progress, which is durable on the slave."""

    def left(self) -> tuple[int, list[KeyRange], Position]:
        """The last update whose rows are there, if any, what it was to load, and how far that and the slave are."""

    def adopt(self, epoch: int, update: int) -> None:
        """Let another update load what is left; under a fence, like `expect`."""

    def finish(self, update: int, lacking: Collection[TableName]) -> None:
        """Finish a complete load: create the foreign keys that waited for it.

        Args:
            lacking: tables that lack rows for another reason.
        """

    def close(self) -> None:
        """End the session."""


class BlockReceiver(Protocol):
    """A slave while one block comes to it: first beside the table, and at the point into it."""

    def begin(self, within: KeyRange, seen: TableView | None) -> None:
        """Begin to write rows of a range, in the text format, with the columns that its view writes; None: none come.

        Raises:
            Unfit: the slave's table does not take them as it is now.
        """

    def write(self, buffer: bytes) -> None:
        """Write some rows."""

    def await_point(self) -> None:
        """Wait for the slave, which is on its way to the point of the job.

        Raises:
            TransientError: SLC-091 if it does not arrive in time, SLC-092 if it is beyond.
        """

    def end(self, reached: Key | None) -> int:
        """Wait for the point, put in what the slave lacks of the block, and that it is in; how many rows were written.

        Raises:
            FencedError: SLC-050, the range is another one by now.
        """

    def close(self) -> None:
        """End, without what was not committed."""
