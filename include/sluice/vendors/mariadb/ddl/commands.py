"""The commands of the master on a slave: their intents, and their execution under a fence of their own (R3, R6).

A command cannot be in the transaction that holds the fence. So it is executed under a lock of the server by which who
takes over waits for it: that one raises the epoch first, and a job that gets the lock later sees the new epoch.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pymysql

from sluice.config.mapper import Mapper
from sluice.errors import AGAIN, LockTimeout, UnclassifiedError
from sluice.model.action import Existing
from sluice.model.names import Pair, TableName
from sluice.model.position import Position
from sluice.model.table_definition import TableChange
from sluice.vendors.committed_ddl import CommittedDdl, Intent, Plan, State, key_of
from sluice.vendors.mariadb import fence
from sluice.vendors.mariadb.ddl.plan import MariaPlanner, rows_of
from sluice.vendors.mariadb.errors import explained
from sluice.vendors.mariadb.session import (
    Connection,
    changed,
    command_lock,
    composed,
    end_session,
    execute,
    expect_pinned,
    qualified,
)
from sluice.vendors.protocol.ddl_errors import failed

# Readers of the slave's tables are not to queue behind us for longer.
_PATIENCE_S = 5
# How long a command of an earlier job is waited for. Then its session is ended, which takes a while.
_OTHERS_S, _ENDED_S = 2, 60
# The name of a lock has 64 letters at most.
_WORD_BYTES = 8


class MariaCommands(CommittedDdl):
    """See `CommittedDdl`. Its session is that of the slave, which may be another one from time to time."""

    def __init__(self, session: Connection, pair: Pair, mapper: Mapper, parts: Mapping[str, str]) -> None:
        super().__init__(pair)
        self._session = session
        self._parts = parts
        self._names = {"source": pair.source, "slave": pair.slave}
        self._planner = MariaPlanner(session, mapper)
        self._lock_name = ""

    def begin(self) -> None:
        """Wait for a command of a job that was overtaken, and read what it began. The fence is raised.

        Raises:
            LockTimeout: SLC-036, the session of that job does not end.
        """
        collation = self._session.server.collation
        execute(self._session, composed("ddl/intents", **self._parts, collation=collation))
        execute(self._session, composed("ddl/make_word", **self._parts), {"word": secrets.token_hex(_WORD_BYTES)})
        ((word,),) = execute(self._session, composed("ddl/word", **self._parts))
        self._lock_name = command_lock(self.pair, str(word))
        with self._lock(_OTHERS_S, ending=True):
            rows = execute(self._session, composed("ddl/intended", **self._parts), self._names)
        self.intent = Intent.from_json(str(rows[0][0])) if rows else None

    def planned(self, change: TableChange, existing: Existing) -> Plan | None:
        """See `CommittedDdl`."""
        return self._planner.planned(change, existing)

    def finishing(self, change: TableChange) -> tuple[str, ...]:
        """See `CommittedDdl`."""
        return self._planner.finishing(change)

    def state(self, tables: Sequence[TableName]) -> State:
        """See `CommittedDdl`."""
        return {key_of(name): rows_of(self._session, name) for name in tables}

    def intend(self, plan: Plan, intent: Intent) -> None:
        """In the transaction of the rows in front of a command: write down that it comes."""
        for name in plan.emptied:
            changed(self._session, f"DELETE FROM {qualified(name)}")
        if plan.commits:
            written = {**self._names, "command": intent.to_json()}
            execute(self._session, composed("ddl/intend", **self._parts), written)

    def execute(self, plan: Plan, intent: Intent, epoch: int) -> None:
        """Carry it out; its intent is committed.

        Raises:
            FencedError: SLC-050, somebody took over. Nothing of it was executed.
            LockTimeout: SLC-036, another session executes one.
            SluiceError: SLC-140, the server refuses it.
        """
        self.intent = intent
        with self._lock(_ENDED_S):
            if execute(self._session, composed("ddl/epoch", **self._parts), self._names) != [(str(epoch),)]:
                raise fence.fenced(self.pair, epoch)
            expect_pinned(self._session)
            try:
                for statement in (*plan.statements, *plan.finishing):
                    self._define(statement)
            except pymysql.Error as error:
                meant = explained(error, f"defining {', '.join(intent.tables)} as the master does")
                if not isinstance(meant, UnclassifiedError):
                    raise meant from error
                raise failed(meant) from error
        self.done()

    def _define(self, statement: str) -> None:
        if self._session.server.waits_for_one:
            execute(self._session, f"SET STATEMENT lock_wait_timeout = {_PATIENCE_S} FOR {statement}")
            return
        usual = dict(self._session.server.pinned)["lock_wait_timeout"]
        execute(self._session, f"SET SESSION lock_wait_timeout = {_PATIENCE_S}")
        try:
            execute(self._session, statement)
        finally:
            # Settings of a session that has ended went with it.
            if self._session.open:
                execute(self._session, f"SET SESSION lock_wait_timeout = {usual}")

    def forget_behind(self, end: Position) -> None:
        """In the transaction that moves the position there: a command that it is past is no intent."""
        if self.intent is not None and self.intent.ordinal <= end.ordinal:
            execute(self._session, composed("ddl/forget", **self._parts), self._names)

    def is_at(self, end: Position) -> None:
        """That transaction is committed."""
        if self.intent is not None and self.intent.ordinal <= end.ordinal:
            self.intent = None

    @contextmanager
    def _lock(self, patience_s: int, *, ending: bool = False) -> Iterator[None]:
        got = _got(self._session, self._lock_name, patience_s)
        if not got and ending:
            if holder := _holder(self._session, self._lock_name):
                end_session(self._session, holder)
            got = _got(self._session, self._lock_name, _ENDED_S)
        if not got:
            holder = _holder(self._session, self._lock_name)
            raise LockTimeout(
                36,
                f"session {holder or 'that has ended by now'} executes a command of the master on slave "
                f"{self.pair.slave}, or holds the lock for that",
                AGAIN,
            )
        try:
            yield
        finally:
            if self._session.open:
                try:
                    execute(self._session, "SELECT RELEASE_LOCK(%(lock)s)", {"lock": self._lock_name})
                except pymysql.Error:
                    # A session that has ended holds nothing.
                    self._session.close()


def _got(session: Connection, lock: str, patience_s: int) -> bool:
    return execute(session, "SELECT GET_LOCK(%(lock)s, %(s)s)", {"lock": lock, "s": patience_s}) == [("1",)]


def _holder(session: Connection, lock: str) -> int | None:
    """The number of the session that has it."""
    ((number,),) = execute(session, "SELECT IS_USED_LOCK(%(lock)s)", {"lock": lock})
    return None if number is None else int(number)
