"""Events of MariaDB's binary log, as far as they tell of rows, and what a table map says of a table.

Sources: MariaDB Knowledge Base, "Replication Protocol"; MySQL's "Internals", "Rows event" and "Table map event".
Numbers are little-endian where nothing else is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct, error
from zlib import crc32

from sluice.model.names import TableName
from sluice.vendors.mariadb.capture.binlog.byte_reader import Malformed, Reader
from sluice.vendors.mariadb.charsets import name_of
from sluice.vendors.mariadb.server import MARIADB, Server

_HEADER = Struct("<IBIIIH")
QUERY, ROTATE, FORMAT, XID, TABLE_MAP, XA_PREPARE, INCIDENT = 2, 4, 15, 16, 19, 38, 26
# They begin a transaction; those of MySQL do not tell whether it is one definition.
GTID, GTIDS_OF_MYSQL = 162, frozenset({33, 34, 42})
GTIDS = GTIDS_OF_MYSQL | {GTID}
_WRITES, _UPDATES, _DELETES = {23, 30}, {24, 31}, {25, 32}
ROWS = _WRITES | _UPDATES | _DELETES
_V2 = {30, 31, 32}
# Rows in a form that is not read, of the options `log_bin_compress`, `binlog_transaction_compression` and
# `binlog_row_value_options`.
UNREAD = dict.fromkeys((*range(165, 172), 40), "compressed events") | {39: "parts of documents in place of rows"}
# Events that change no row that is replicated: annotations, checkpoints, variables of statements, the end of a file,
# GTIDs of earlier files, members of a group, the begin of an encrypted part, which the server decrypts for its readers.
IGNORED = frozenset({3, 5, 13, 14, 27, 29, 35, 36, 37, 41, 160, 161, 163, 164})
# Events of a file within a transaction, or at its end.
IN_TRANSACTION = ROWS | UNREAD.keys() | {QUERY, XID, TABLE_MAP, XA_PREPARE, 5, 13, 14, 29, 160}
_STANDALONE, _IN_GROUP, _PREPARES, _XA = 1, 1 << 1, 1 << 6, 1 << 6 | 1 << 7
# Of the server's option `binlog_alter_two_phase`: it begins, or is rolled back.
_UNFINISHED = 1 << 1 | 1 << 3
# Of rows: what foreign keys do is in the log, too.
_TELLS_ACTIONS = 16

_SUM_BYTES = 4

# Types of columns, by their numbers.
TINY, SHORT, LONG, FLOAT, DOUBLE, LONGLONG, INT24, DATE, YEAR = 1, 2, 3, 4, 5, 8, 9, 10, 13
BIT, TIMESTAMP2, DATETIME2, TIME2, DECIMAL = 16, 17, 18, 19, 246
VARCHAR, ENUM, SET, BLOB, VAR_STRING, STRING, GEOMETRY = 15, 247, 248, 252, 253, 254, 255
VECTOR, JSON = 242, 245
_NUMERIC = {TINY, SHORT, INT24, LONG, LONGLONG, DECIMAL, FLOAT, DOUBLE, YEAR}
_CHARACTERS = {STRING, VAR_STRING, VARCHAR, BLOB, GEOMETRY, VECTOR, 140, 141}
# How many bytes a table map has for a column besides its type.
_META = {VARCHAR: 2, BIT: 2, DECIMAL: 2, ENUM: 2, SET: 2, STRING: 2, VAR_STRING: 2}
_META |= dict.fromkeys((FLOAT, DOUBLE, BLOB, GEOMETRY, VECTOR, JSON, TIMESTAMP2, DATETIME2, TIME2), 1)
_META_OF_OLD = {140: 1, 141: 2}


@dataclass(frozen=True)
class Event:
    """One event.

    Attributes:
        end: where it ends in its file; 0 if it is none of the file's.
        data: without header.
    """

    kind: int
    time: int
    server: int
    end: int
    data: bytes


@dataclass(frozen=True)
class ColumnMap:
    """A column, as a table map describes it.

    Attributes:
        kind: its type; an ENUM or SET is told from a STRING.
        first, second: the two bytes of its metadata, as far as it has some; of a STRING its length in bytes.
        collation: the number of its collation; None if it has none.
        members: of an ENUM or SET, in the bytes of its character set.
    """

    name: str
    kind: int
    first: int
    second: int
    nullable: bool
    unsigned: bool
    collation: int | None
    members: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class TableMap:
    """A table, as rows that follow are written.

    Attributes:
        is_named: the names of columns are known.
        key: places of the primary key's columns.
    """

    number: int
    schema: str
    table: str
    columns: tuple[ColumnMap, ...]
    key: tuple[int, ...]
    is_named: bool


@dataclass(frozen=True)
class Query:
    """A statement.

    Attributes:
        schema: the database that it was executed in.
        raw: its text, in the client's character set.
        mode: the session's `sql_mode`, as a number; None if that is not told.
        collation: the number of a collation of the client's character set; None if that is not told.
        server: which has written it.
    """

    schema: str
    raw: bytes
    mode: int | None = None
    collation: int | None = None
    server: Server = MARIADB

    @property
    def short(self) -> str:
        """Its beginning, for a message."""
        return " ".join(self.raw.decode(errors="replace").split())[:80]


@dataclass(frozen=True)
class Rows:
    """Rows of one table, which the reader of values takes apart.

    Attributes:
        action: I, U or D.
        present: a bit for each column that is in the images; 0 if old and new ones have others.
        tells_actions: what foreign keys change by it is in the log, too.
        data: images, one after the other.
    """

    table: int
    action: str
    columns: int
    present: int
    tells_actions: bool
    data: memoryview


def event(packet: bytes, *, summed: bool | None = None) -> Event:
    """The event that the server has sent.

    Args:
        summed: whether a sum of its bytes is at its end, which is looked at; None: that is not known yet.
    """
    try:
        time, kind, server, size, end, _ = _HEADER.unpack_from(packet)
    except error:
        raise Malformed(f"an event has {len(packet)} bytes, which are no header") from None
    if size != len(packet):
        raise Malformed(f"an event has {len(packet)} bytes, and says that it has {size}")
    data, total = packet[_HEADER.size : -_SUM_BYTES], int.from_bytes(packet[-_SUM_BYTES:], "little")
    is_right = crc32(packet[:-_SUM_BYTES]) == total
    if summed and not is_right:
        raise Malformed("an event's checksum is wrong")
    if kind == FORMAT:
        # It always has room for one, and says in front of that whether the others have.
        return Event(kind, time, server, end, data)
    return Event(kind, time, server, end, data if is_right and summed is not False else packet[_HEADER.size :])


def has_sums(data: bytes) -> bool:
    """Of a FORMAT: whether the events that follow have checksums. Raises Malformed, they are of an unknown kind."""
    if not data or data[-1] not in (0, 1):
        raise Malformed("the log has checksums of an unknown kind")
    return bool(data[-1])


def version(data: bytes) -> str:
    """Of a FORMAT: the version of the server that has written it."""
    return data[2:52].rstrip(b"\0").decode(errors="replace")


def rotated(data: bytes) -> tuple[str, int]:
    """Of a ROTATE: the next file, and where in it."""
    return data[8:].decode(), int.from_bytes(data[:8], "little")


def stands_alone(kind: int, data: bytes) -> bool | None:
    """Of a GTID: whether one event follows, and no commit: a definition. None: the statement that follows says it."""
    if kind in GTIDS_OF_MYSQL:
        return None
    if len(data) < 13:
        raise Malformed("a GTID is cut off")
    return bool(data[12] & _STANDALONE)


def prepares(kind: int, data: bytes) -> bool:
    """Of a GTID: whether a transaction of XA follows that is prepared; MySQL has a statement for its beginning."""
    return kind == GTID and bool(data[12] & _PREPARES)


def prepared(data: bytes) -> tuple[str, bool]:
    """Of a transaction of XA: its name as statements of the log have it, and whether it is committed by this."""
    if len(data) < 13:
        raise Malformed("the end of a transaction of XA is cut off")
    form, first, second = (int.from_bytes(data[at : at + 4], "little") for at in (1, 5, 9))
    name, rest = data[13 : 13 + first].hex(), data[13 + first : 13 + first + second].hex()
    return f"{name} {rest} {form}", bool(data[0])


def is_provisional(kind: int, data: bytes) -> bool:
    """Of a GTID: whether an ALTER follows that is only begun, or is given up: it stands again where it ends."""
    if kind in GTIDS_OF_MYSQL:
        return False
    flags = data[12]
    at = 13 + (8 if flags & _IN_GROUP else 0)
    if flags & _XA and len(data) > at + 5:
        at += 6 + data[at + 4] + data[at + 5]
    return len(data) > at and bool(data[at] & _UNFINISHED)


def query(data: bytes, server: Server = MARIADB) -> Query:
    """The statement of a QUERY in the log of a server."""
    reader = Reader(data)
    reader.number(8)
    schema_length, _, status = reader.number(1), reader.number(2), reader.number(2)
    mode, collation = _session(Reader(reader.take(status)))
    schema = reader.take(schema_length)
    reader.take(1)
    return Query(name_of(schema), reader.rest().tobytes(), mode, collation, server)


def _session(reader: Reader) -> tuple[int | None, int | None]:
    """The `sql_mode` and the collation of the client, as far as they are there; more is behind them."""
    mode = None
    while reader.left:
        match reader.number(1):
            case 0 | 3:
                reader.take(4)
            case 1:
                mode = reader.number(8)
            case 2:
                reader.take(reader.number(1) + 1)
            case 4:
                return mode, reader.number(2)
            case 6:
                reader.take(reader.number(1))
            case _:
                break
    return mode, None


def rows(kind: int, data: bytes) -> Rows:
    """The rows that an event tells of."""
    reader = Reader(data)
    table, flags = reader.number(6), reader.number(2)
    if kind in _V2:
        reader.take(reader.number(2) - 2)
    columns = reader.packed()
    sides = range(2 if kind in _UPDATES else 1)
    masks = {int.from_bytes(reader.take(-(-columns // 8)), "little") & (1 << columns) - 1 for _ in sides}
    present = masks.pop() if len(masks) == 1 else 0
    action = "I" if kind in _WRITES else "U" if kind in _UPDATES else "D"
    return Rows(table, action, columns, present, bool(flags & _TELLS_ACTIONS), reader.rest())


def mapped(data: bytes) -> tuple[int, TableName]:
    """The number and the name of the table that a TABLE_MAP describes."""
    return _mapped(Reader(data))


def _mapped(reader: Reader) -> tuple[int, TableName]:
    number, _ = reader.number(6), reader.number(2)
    schema = name_of(reader.take(reader.number(1)))
    reader.take(1)
    table = name_of(reader.take(reader.number(1)))
    reader.take(1)
    return number, TableName(schema, table)


def table_map(data: bytes, server: Server = MARIADB) -> TableMap:
    """The table that a TABLE_MAP in the log of a server describes. Raises ValueError, IndexError: not known."""
    reader = Reader(data)
    number, name = _mapped(reader)
    types = list(reader.take(reader.packed()))
    meta = Reader(reader.take(reader.packed()))
    kinds = [_described(kind, meta) for kind in types]
    nulls = int.from_bytes(reader.take(-(-len(types) // 8)), "little")
    more = dict(_fields(reader))
    names = [name_of(part) for part in _texts(more.get(4, b""))]
    unsigned = _flags(more.get(1, b""), kinds, _NUMERIC)
    lettered = _CHARACTERS if server.lettered_shapes else _CHARACTERS - {GEOMETRY}
    collations = _collations(more.get(2), more.get(3), kinds, lettered)
    collations |= _collations(more.get(10), more.get(11), kinds, {ENUM, SET})
    members = _members(more.get(6, b""), kinds, ENUM) | _members(more.get(5, b""), kinds, SET)
    key = list(_numbers(more.get(8, b""))) or list(_numbers(more.get(9, b"")))[::2]
    if names and len(names) != len(kinds):
        raise Malformed(f"a table map has {len(kinds)} columns and {len(names)} names")
    columns = tuple(
        ColumnMap(
            names[place] if names else "",
            kind,
            first,
            second,
            bool(nulls >> place & 1),
            place in unsigned,
            collations.get(place),
            members.get(place, ()),
        )
        for place, (kind, first, second) in enumerate(kinds)
    )
    return TableMap(number, name.schema, name.table, columns, tuple(key), bool(names))


def _described(kind: int, meta: Reader) -> tuple[int, int, int]:
    size = _META.get(kind, _META_OF_OLD.get(kind, 0))
    data = meta.take(size)
    first, second = (data[0] if size else 0), (data[1] if size > 1 else 0)
    if kind != STRING:
        return kind, first, second
    if first in (ENUM, SET):
        return first, second, 0
    # Two bits of a length above 255 are in the byte of the type, turned over.
    return STRING, ((first & 0x30) ^ 0x30) << 4 | second, 0


def _fields(reader: Reader) -> Iterator[tuple[int, bytes]]:
    while reader.left:
        kind = reader.number(1)
        yield kind, reader.take(reader.packed())


def _numbers(data: bytes) -> Iterator[int]:
    reader = Reader(data)
    while reader.left:
        yield reader.packed()


def _texts(data: bytes) -> Iterator[bytes]:
    reader = Reader(data)
    while reader.left:
        yield reader.take(reader.packed())


def _flags(data: bytes, kinds: list[tuple[int, int, int]], among: set[int]) -> set[int]:
    places = [place for place, (kind, _, _) in enumerate(kinds) if kind in among]
    return {place for bit, place in enumerate(places) if len(data) > bit // 8 and data[bit // 8] & (0x80 >> bit % 8)}


def _collations(
    default: bytes | None, each: bytes | None, kinds: list[tuple[int, int, int]], among: set[int]
) -> dict[int, int]:
    places = [place for place, (kind, _, _) in enumerate(kinds) if kind in among]
    if each is not None:
        return dict(zip(places, _numbers(each), strict=True))
    if default is None:
        return {}
    usual, *others = _numbers(default)
    found = dict.fromkeys(places, usual)
    for index, collation in zip(others[::2], others[1::2], strict=True):
        found[places[index]] = collation
    return found


def _members(data: bytes, kinds: list[tuple[int, int, int]], wanted: int) -> dict[int, tuple[bytes, ...]]:
    reader = Reader(data)
    found = {}
    for place, (kind, _, _) in enumerate(kinds):
        if kind == wanted and reader.left:
            found[place] = tuple(reader.take(reader.packed()) for _ in range(reader.packed()))
    return found
