"""Statements that are sent one behind the other, while the answers to earlier ones are still to come.

Source: PostgreSQL manual, libpq, "Pipeline Mode": what lies between two syncs is one transaction, unless the session is
in one; after an error the server passes over everything up to the next sync.
"""

from __future__ import annotations

import select
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from sluice.apply.row_changes import RowChange
from sluice.model.names import TableName
from sluice.model.row_conflict import RowConflict, Tolerated
from sluice.vendors.postgresql.session import Connection, compose_restore

_MOST = 2_000
_MOST_BYTES = 16 * 1024 * 1024
_DONE = (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement that was prepared in a session."""

    name: bytes
    text: bytes


@dataclass(frozen=True, slots=True)
class Sent:
    """A statement with its values.

    Attributes:
        wanted: how many rows it is expected to touch.
        conflict: how to count those of a table that are more or fewer; None if any number is fine.
        change: what is not carried out then.
        coded: it may run code of others, see `StagedTable`; the session is restored after it.
    """

    statement: Prepared
    values: Sequence[bytes | None]
    wanted: int = 0
    conflict: tuple[TableName, RowConflict] | None = None
    change: RowChange | None = None
    coded: bool = False


class Pipeline:
    """The pipeline of a session, for the time of a block; its end waits for all answers.

    Where code of others may run, or has run, in the session, all is sent by its text: such code can put anything in the
    place of a prepared statement.

    Attributes:
        synced: how many syncs came back with all before them done, up to the first error.
        tolerated: rows that were not as statements before these expected them.
        rejected: changes that were not carried out, each with its reason.
        failed: what the server said of the first statement that failed, and that statement.
    """

    def __init__(self, connection: Connection, *, coded: bool) -> None:
        """`coded`: code of others may run in this session, or has run in it."""
        self._connection = connection
        self._coded = coded
        self._pg = connection.pgconn
        self._waiting: deque[tuple[Sent, int] | None] = deque()
        self._bytes = 0
        self._begun = False
        self._found = Tolerated()
        self.synced = 0
        self.tolerated = Tolerated()
        self.rejected: list[tuple[RowConflict, RowChange]] = []
        self.failed: tuple[PGresult, Prepared] | None = None

    def __enter__(self) -> Pipeline:
        self._restoring = [statement.as_bytes(self._connection) for statement in compose_restore(self._connection)]
        self._pg.enter_pipeline_mode()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            # Whatever was sent without a sync is rolled back with the session.
            self._connection.close()
            return
        self._take(0, 0)
        self._pg.exit_pipeline_mode()
        if self._pg.transaction_status == TransactionStatus.INERROR and self._begun:
            self._connection.rollback()

    def send(self, statement: Sent) -> None:
        """Send a statement; waits for answers when many are to come."""
        if self._coded:
            self._pg.send_query_params(statement.statement.text, statement.values)
        else:
            self._pg.send_query_prepared(statement.statement.name, statement.values)
        size = sum(len(value) for value in statement.values if value)
        self._waiting.append((statement, size))
        self._bytes += size
        if statement.coded:
            self._restore()
        if len(self._waiting) > _MOST or self._bytes > _MOST_BYTES:
            self._take(_MOST // 2, _MOST_BYTES // 2)

    def begin(self) -> None:
        """Begin a transaction, which `commit` ends."""
        self._begun = True
        if self._coded:
            # What the transaction before left to its end may have run code as well.
            self._restore()
        self.say(b"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")

    def say(self, text: bytes) -> None:
        """Send a statement that has no values."""
        self._pg.send_query_params(text, None)
        self._waiting.append((Sent(Prepared(b"", text), ()), 0))

    def commit(self) -> None:
        """End a transaction."""
        self.say(b"COMMIT")
        self.sync()

    def sync(self) -> None:
        """End what is passed over after an error."""
        self._pg.pipeline_sync()
        self._waiting.append(None)

    def expect_done(self) -> None:
        """Raise psycopg's error of the first statement that failed."""
        if self.failed:
            raise error_from_result(self.failed[0])

    def _restore(self) -> None:
        for text in self._restoring:
            self.say(text)

    def _take(self, most: int, most_bytes: int) -> None:
        """Wait until no more answers than that are to come."""
        while len(self._waiting) > most or self._bytes > most_bytes:
            while self._pg.is_busy():
                writing = [self._pg.socket] if self._pg.flush() else []
                readable, _, _ = select.select([self._pg.socket], writing, [])
                if readable:
                    self._pg.consume_input()
            if (result := self._pg.get_result()) is not None:
                self._answered(result)
            elif self._pg.transaction_status == TransactionStatus.UNKNOWN:
                return

    def _answered(self, result: PGresult) -> None:
        waited = self._waiting.popleft()
        if waited is None:
            if not self.failed:
                self.synced += 1
                self.tolerated.update(self._found)
            self._found.clear()
            return
        sent, size = waited
        self._bytes -= size
        if result.status not in _DONE:
            self.failed = self.failed or (result, sent.statement)
        elif sent.conflict and result.command_tuples != sent.wanted:
            self._found[sent.conflict] += abs(sent.wanted - (result.command_tuples or 0))
            if sent.change:
                self.rejected.append((sent.conflict[1], sent.change))
