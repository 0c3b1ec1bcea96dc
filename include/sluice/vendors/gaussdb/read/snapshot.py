"""The snapshot that a dump reads: held open by one session, imported by every task."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, closing
from types import TracebackType

import psycopg
from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.errors import AGAIN, SluiceError, TransientError
from sluice.model.names import TableName
from sluice.model.position import Position, Snapshot
from sluice.vendors.gaussdb.capture import registry
from sluice.vendors.gaussdb.catalog.tables import Described, described
from sluice.vendors.gaussdb.read.shown import expect_shown
from sluice.vendors.gaussdb.session import composed, connect
from sluice.vendors.postgresql.capture.unwatched import changing
from sluice.vendors.postgresql.catalog.definition import PostgresTable
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import Connection
from sluice.vendors.protocol.absent_features import WholeTables
from sluice.vendors.protocol.read import KeyRange, Leaf

# A table is one leaf, and not cut: not every way of storing one has addresses.
_WHOLE = 1


class GaussSnapshot(WholeTables):
    """Locks the tables against DDL, then reads the log's end, then takes the snapshot: in this order (R5).

    See `sluice.vendors.protocol.load.DumpSnapshot`.
    """

    def __init__(
        self,
        info: ConnectionInfo,
        parts: Mapping[str, sql.Composable],
        stages: Sequence[Sequence[TableName]],
        at: Callable[[], tuple[Position, str | None]],
    ) -> None:
        self._info = info
        self._parts = parts
        self._tables = [name for stage in stages for name in stage]
        self._at = at
        self._is_marked = False

    def __enter__(self) -> GaussSnapshot:
        with translated("taking the dump's snapshot"), ExitStack() as opened:
            locking = opened.enter_context(closing(connect(self._info, "locks")))
            locking.execute("BEGIN")
            for name in self._tables:
                relation = sql.Identifier(name.schema, name.table)
                try:
                    locking.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(relation))
                except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
                    raise changing(str(name)) from error
            self._locking = locking
            self._session = opened.enter_context(closing(connect(self._info, "snapshot")))
            self._session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            self.position, other = self._at()
            if other:
                read_as_of(self._session, other)
            self.id, text = exported(self._session)
            self.snapshot = Snapshot(text)
            self._described = described(self._session, self._tables)
            for name in self._tables:
                if name not in self._described:
                    raise changing(str(name))
                expect_shown(self._session, name)
            self._opened = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.__exit__(kind, error, trace)

    def keep_locked(self, unread: Collection[TableName]) -> None:
        """See that the locks are still held. Raises TransientError SLC-030, they are not."""
        with translated("holding the tables"):
            self._locking.execute("SELECT 1")

    def expect_complete(self) -> None:
        """See that no watched table is missing in it."""
        with translated("looking at the registry"):
            for name in registry.registered(self._session, self._parts):
                if name not in self._described:
                    raise changing(str(name))

    def definitions(self) -> list[PostgresTable]:
        """The tables."""
        return [self._described[name].definition for name in self._tables]

    def leaves(self) -> list[Leaf]:
        """The relations to copy: the tables themselves."""
        with translated("reading the catalog"):
            found = {
                relation: (size, str(file))
                for relation, size, file in self._session.execute(
                    composed("read/size"), {"relations": [one.relation for one in self._described.values()]}
                )
            }
        return [self._leaf(self._described[name], *found[self._described[name].relation]) for name in self._tables]

    def published(self) -> bool:
        """Whether the change log has all that the snapshot shows: a sweep has seen a mark that was made later."""
        with translated("looking what is published"), closing(connect(self._info, "dump")) as session:
            parts = {"queue": self._parts["queue"], "mark": sql.Literal(self.id)}
            if not self._is_marked:
                session.execute(composed("read/mark", **parts))
                self._is_marked = True
                return False
            return session.execute(composed("read/marked", **parts)).fetchone() == (False,)

    def filled(self) -> set[TableName]:
        """The tables that have rows in it."""
        with translated("looking for rows"):
            return {name for name in self._tables if self._has_rows(name)}

    def sorting(self, table: TableName) -> list[str | None]:
        """Unknown, for each column of the key."""
        return [None] * len(self._described[table].layout.key)

    def expect_bounds(self, within: KeyRange) -> None:
        """Ranges of keys are not loaded. Raises SluiceError SLC-640."""
        raise SluiceError(
            640, f"{within.table} cannot be loaded by ranges of keys", "run initial_update without `keys`"
        )

    def _leaf(self, table: Described, size: int, file: str) -> Leaf:
        return Leaf(table.name, table.name, size, _WHOLE, file)

    def _has_rows(self, name: TableName) -> bool:
        query = composed("read/filled", relation=sql.Identifier(name.schema, name.table))
        return self._session.execute(query).fetchone() == (True,)


def exported(session: Connection) -> tuple[str, str]:
    """Export a session's snapshot: its id for others, and what is visible in it, as a text. A server that was restarted
    gives its ids out again, so that ours say what they show, behind a blank.
    """
    known, text = session.execute(composed("read/export")).fetchone() or ("", "")
    return f"{known} {text}", str(text)


def read_as_of(session: Connection, snapshot_id: str) -> None:
    """Let a transaction that begins see what an exported snapshot shows.

    Raises:
        TransientError: SLC-083, the snapshot is gone.
    """
    known, _, shown = snapshot_id.partition(" ")
    why = "another one has its id"
    try:
        session.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(known)))
        if session.execute(composed("capture/log/snapshot")).fetchone() == (shown,):
            return
    except (psycopg.errors.InvalidParameterValue, psycopg.errors.UndefinedObject) as error:
        why = str(error)
    raise TransientError(
        83,
        f"the snapshot that is read is lost: the session that held it has ended ({why})",
        f"nothing is lost, {AGAIN}; look in the log of that server who ended the session",
    )
