"""Rows into a table, as fast as the server lets us: by `LOAD DATA LOCAL` where it is allowed, else by statements with
many rows each.

The driver's own `LOAD DATA LOCAL` sends any file that the server asks for. This one has no file: only here, and only
after our own statement, rows are sent, whatever name the server says.

Source: MariaDB Knowledge Base, "LOAD DATA INFILE" and "LOCAL_INFILE packet".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
import pymysql
from pymysql.constants import COMMAND
from pymysql.protocol import OKPacketWrapper

from sluice.model.names import TableName
from sluice.values.copy_text import columns_of
from sluice.vendors.mariadb.session import Connection, Sql, changed, composed, execute, quoted
from sluice.vendors.mariadb.types import Form, Stored, fields, literals
from sluice.vendors.mariadb.write.lines import read_alike

# Bytes of one statement, at most, unless one row alone has more.
_STATEMENT_BYTES = 4 << 20
# What a statement has beside its rows.
_ROOM = 64 << 10
# A packet has less than 16 MB.
_PACKET_BYTES = 1 << 20
# For fewer rows a statement is quicker: it takes one turn.
_FEW = 100
_TRUNCATED, _TOO_LARGE = 1265, 1153


class BulkInsert:
    """Inserts within the transaction of a session."""

    def __init__(self, session: Connection) -> None:
        self._session = session
        ((packet, local),) = execute(session, "SELECT @@max_allowed_packet, @@local_infile")
        self._allowed = int(packet)
        self._most = max(1, min(_STATEMENT_BYTES, self._allowed - _ROOM))
        self._loads = local == "1"

    def insert(self, into: Sql, table: TableName, columns: Sequence[Stored], texts: Sequence[pa.Array]) -> None:
        """Put rows into a table.

        Args:
            into: the table, or its stage.
            table: its name, for errors.
            texts: an array of canonical texts for each column.

        Raises:
            SluiceError: SLC-431, a value that a column cannot hold.
            pymysql.Error: a row that the server does not take as it is.
        """
        self._ready(into, table, columns, texts)()

    def inserting(self, into: Sql, table: TableName, columns: Sequence[Stored], lines: bytes) -> Callable[[], None]:
        """The same for whole lines of COPY, in two steps: all is made here that the session is not needed for, and
        another thread may call the result.
        """
        count = lines.count(b"\n")
        if self._loads and count >= _FEW and read_alike(table, columns, lines):
            return partial(self._load, into, columns, count, lines)
        return self._ready(into, table, columns, columns_of(lines, len(columns)))

    def _ready(
        self, into: Sql, table: TableName, columns: Sequence[Stored], texts: Sequence[pa.Array]
    ) -> Callable[[], None]:
        if not len(texts[0]):
            return lambda: None
        if self._loads and len(texts[0]) >= _FEW:
            rows = fields(table, columns, texts)
            return partial(self._load, into, columns, len(rows), _joined(rows, "\n") + b"\n")
        names = ", ".join(quoted(one.column.name) for one in columns)
        return partial(self._state, f"INSERT INTO {into} ({names}) VALUES ", literals(table, columns, texts))

    def _state(self, begin: str, rows: pa.Array) -> None:
        for some in _pieces(rows, self._most):
            statement = begin.encode() + _joined(some, ",")
            if len(statement) >= self._allowed:
                # The server would end the session, and with it what is known of the row.
                raise pymysql.err.DataError(
                    _TOO_LARGE,
                    f"a row of {len(statement)} bytes, written as a statement, is beyond the server's "
                    f"max_allowed_packet of {self._allowed} bytes",
                )
            changed(self._session, statement)

    def _load(self, into: Sql, columns: Sequence[Stored], count: int, content: bytes) -> None:
        targets, decoded = [], []
        for number, one in enumerate(columns):
            if one.form is Form.BYTES:
                targets.append(f"@sluice_{number}")
                decoded.append(f"{quoted(one.column.name)} = UNHEX(@sluice_{number})")
            else:
                targets.append(quoted(one.column.name))
        parts = {
            "table": into,
            "targets": ", ".join(targets),
            "decoded": (decoded and f"SET {', '.join(decoded)}") or "",
        }
        loaded, warnings = _send(
            self._session, composed("write/load_rows", **parts), content, min(_PACKET_BYTES, self._allowed // 2)
        )
        if warnings or loaded != count:
            # What would be an error of a statement is a warning here, and the row is bent or left out.
            found = execute(self._session, "SHOW WARNINGS LIMIT 1")
            number, message = found[0][1:] if found else (_TRUNCATED, f"{count - loaded} rows are not there")
            raise pymysql.err.DataError(int(number), message)


def _send(session: Connection, statement: str, content: bytes, most: int) -> tuple[int, int]:
    """Load the content, in packets of so many bytes; how many rows were taken, and how many warnings there are."""
    session._execute_command(COMMAND.COM_QUERY, statement)
    packet = session._read_packet()
    if packet.is_load_local_packet():
        view = memoryview(content)
        for begin in range(0, len(view), most):
            session.write_packet(bytes(view[begin : begin + most]))
        session.write_packet(b"")
        packet = session._read_packet()
    result = OKPacketWrapper(packet)
    return int(result.affected_rows), int(result.warning_count)


def _joined(rows: pa.Array, between: str) -> bytes:
    # The bytes go as they are: there may be hundreds of megabytes of them.
    whole = pa.LargeListArray.from_arrays(pa.array([0, len(rows)]), rows)
    content: bytes = pc.binary_join(whole, pa.scalar(between, rows.type))[0].as_buffer().to_pybytes()
    return content


def _pieces(rows: pa.Array, most: int) -> Iterator[pa.Array]:
    """Rows in pieces of about so many bytes; one that has more is alone."""
    lengths = pc.add(pc.binary_length(rows), 1).to_numpy(zero_copy_only=False)
    begin = size = 0
    for index, length in enumerate(lengths):
        if size and size + length > most:
            yield rows.slice(begin, index - begin)
            begin, size = index, 0
        size += int(length)
    if len(rows) > begin:
        yield rows.slice(begin)
