"""Reading a COPY TO STDOUT in large buffers.

By libpq's calls: psycopg's own loop goes through a generator for each row, and rows that are kept until they are joined
cost the allocator more than the copying does. Together that was four times the CPU of this.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator

import psycopg
from psycopg import sql
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from sluice.vendors.postgresql.session import Connection

BUFFER_BYTES = 256 * 1024


class CopyOut:
    """One COPY: its rows, joined to buffers of about `size` bytes; one that is larger comes alone.

    Attributes:
        rows: how many there were, known at the end.

    Args:
        after: what is done when all rows were read, before the last of them are given.
    """

    def __init__(
        self, session: Connection, query: sql.Composed, size: int, after: Callable[[], None] = lambda: None
    ) -> None:
        self._reading = session.pgconn
        self._query = query.as_bytes(session)
        self._size = size
        self._after = after
        self.rows = 0

    def __iter__(self) -> Iterator[bytes]:
        """Raises psycopg.Error: the COPY was refused, or broke off; the session is of no use after that."""
        reading = self._reading
        _expect(reading.exec_(self._query), ExecStatus.COPY_OUT)
        arrived = select.poll()
        arrived.register(reading.socket, select.POLLIN)
        buffer = bytearray()
        while True:
            size, row = reading.get_copy_data(1)
            if size >= self._size:
                if buffer:
                    yield bytes(buffer)
                    buffer = bytearray()
                # A row this large is given away, and not kept here beside what becomes of it.
                large = [bytes(row)]
                del row
                yield large.pop()
            elif size > 0:
                buffer += row
                if len(buffer) >= self._size:
                    yield bytes(buffer)
                    buffer = bytearray()
            elif size == 0:
                # Here, and not in libpq, so that a signal is heeded.
                arrived.poll()
                reading.consume_input()
            else:
                break
        self.rows = _expect(reading.get_result(), ExecStatus.COMMAND_OK).command_tuples or 0
        while reading.get_result():
            pass
        self._after()
        if buffer:
            yield bytes(buffer)


def _expect(result: PGresult | None, status: ExecStatus) -> PGresult:
    if result is None:
        raise psycopg.OperationalError("the connection broke off")
    if result.status != status:
        raise error_from_result(result)
    return result
