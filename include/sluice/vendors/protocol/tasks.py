"""Descriptions for Spark tasks of a dump: the origin of rows, and their targets with epochs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sluice.apply.mapping.table_view import TableView
    from sluice.config.mapper import Mapper
    from sluice.errors import SluiceError
    from sluice.model.names import Resources, TableName
    from sluice.model.position import Position
    from sluice.model.watched import Pattern
    from sluice.storage.directory import Directory
    from sluice.vendors.protocol.read import Chunk, KeyRange, RowFormat

# What the names of stored files end with: compressed, or messages of XML.
Form = Literal["zst", "xml"]


@dataclass(frozen=True)
class FromMaster:
    """Rows of a master, as an exported snapshot shows them.

    Attributes:
        trusted: roles whose functions may run with our rights.
    """

    vendor: str
    connection: str
    snapshot_id: str
    trusted: tuple[str, ...] = ()


@dataclass(frozen=True)
class FromFiles:
    """Rows that were stored in a directory, whose manifest has this SHA-256.

    Attributes:
        key_file: with the key that they are encrypted with, if they are.
    """

    directory: Directory
    sha256: str
    key_file: str | None = None


@dataclass(frozen=True)
class IntoFiles:
    """A directory that rows are stored in.

    Attributes:
        begin: what the names of its files begin with.
        first: what its first chunk is called in these.
        max_bytes: most bytes of a file, before it is compressed.
        form, key_file: how pieces stand in them, see `sluice.initial_update.files.encoding.Packing`.
    """

    directory: Directory
    begin: str
    max_bytes: int
    form: Form = "zst"
    key_file: str | None = None
    first: int = 0


@dataclass(frozen=True)
class SlaveLoad:
    """One slave of a dump: its kind, its connection's id, its fence, what it sees of the tables, the id of the
    connection with its salt, the masters in its database that are not to hear of what is loaded, the directory that
    its rows are stored in instead, if they are, the tables whose rows may be there already, those among whose rows
    are the slave's own, and those of the slave's that may belong to others.
    """

    slave: str
    vendor: str
    connection: str
    schema: str
    epoch: int
    views: dict[TableName, TableView]
    salt: str | None = None
    masters: tuple[Resources, ...] = ()
    files: IntoFiles | None = None
    merged: frozenset[TableName] = frozenset()
    upserted: frozenset[TableName] = frozenset()
    adopted: frozenset[Pattern] = frozenset()


@dataclass(frozen=True)
class LoadJob:
    """A dump, as the tasks see it. Nothing in here is secret: `sealed` opens only with the deployment's key file.

    Attributes:
        formats: the format of each table's rows on their way.
        tasks: how many copy at the same time.
    """

    source: str
    origin: FromMaster | FromFiles
    sealed: str
    chunks: tuple[Chunk, ...]
    formats: dict[TableName, RowFormat]
    slaves: tuple[SlaveLoad, ...]
    tasks: int


@dataclass(frozen=True)
class Share:
    """The number of a task among all; numbered work is distributed to them in turn."""

    number: int = 0
    of: int = 1


WHOLE = Share()


@dataclass(frozen=True)
class SlaveLoaded:
    """The result of one task for one slave: committed rows, and the error that ended it, or None."""

    slave: str
    rows: int
    error: SluiceError | None = None


@dataclass(frozen=True)
class BlockJob:
    """The next block of each of some ranges, for one slave, at one point of the stream (R10).

    Attributes:
        update: the initial update that they belong to.
        origin: the master as it was at the point.
        at: the point.
        rows: how many a block has, about.
        patience_s: how long a slave is waited for that comes no nearer to the point.
    """

    source: str
    update: int
    origin: FromMaster
    sealed: str
    slave: SlaveLoad
    mapper: Mapper
    ranges: tuple[KeyRange, ...]
    at: Position
    rows: int
    patience_s: float


@dataclass(frozen=True)
class BlockLoaded:
    """The result of a block: its new rows on the slave, and the error, or None."""

    rows: int
    error: SluiceError | None = None
