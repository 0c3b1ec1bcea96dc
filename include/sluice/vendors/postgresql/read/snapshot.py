"""The snapshot that a dump reads: held open by one session, imported by every task."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property
from itertools import pairwise
from types import TracebackType

import psycopg
from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError
from sluice.model.names import Resources, TableName
from sluice.model.position import Position, Snapshot
from sluice.vendors.postgresql import planned_code
from sluice.vendors.postgresql.capture.log import slot
from sluice.vendors.postgresql.capture.log.slot_server import SlotServer
from sluice.vendors.postgresql.capture.unwatched import changing
from sluice.vendors.postgresql.catalog import definition, relations
from sluice.vendors.postgresql.catalog.definition import PostgresTable
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.read.key_range import between, keys
from sluice.vendors.postgresql.read.lock_yield import LockYield
from sluice.vendors.postgresql.read.table_locks import TableLocks
from sluice.vendors.postgresql.session import Connection, composed, connect, exported, read_as_of, read_tables_alone
from sluice.vendors.postgresql.statements.transaction_fate import beside, flush
from sluice.vendors.protocol.read import Key, KeyRange, Leaf

# Of a table that is cut into parts.
_BLOCKS_A_PART = 100
_BLOCKS_SAMPLED = 1000


class PostgresSnapshot:
    """Locks the tables against DDL, then reads the log's end, then takes the snapshot: in this order (R5).

    What it reads itself leaves no lock behind.

    Attributes:
        id: what other sessions import.
        snapshot: what is visible in it.
        position: the log's end before it was taken, or the point of the log that it shows.
    """

    def __init__(
        self,
        info: ConnectionInfo,
        resources: Resources,
        parts: Mapping[str, sql.Composable],
        stages: Sequence[Sequence[TableName]],
        at: Callable[[], tuple[Position, str | None]],
        yields_after_s: float | None,
        trusted: Collection[str] = (),
        standby: ConnectionInfo | None = None,
    ) -> None:
        self._info = info
        self._standby = standby
        self._resources = resources
        self._trusted = trusted
        self._parts = parts
        self._stages = stages
        self._tables = [name for stage in stages for name in stage]
        self._at = at
        self._yields_after_s = yields_after_s

    def __enter__(self) -> PostgresSnapshot:
        with (
            translated("taking the dump's snapshot"),
            beside(self._info) as flushing,
            ExitStack() as opened,
        ):
            # A rewriting ALTER that commits after our snapshot would empty the table in it.
            locking = opened.enter_context(closing(connect(self._info, "locks", autocommit=True)))
            try:
                self._locks = TableLocks(locking, self._parts, self._stages)
            except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
                raise changing(str(error.diag.message_primary)) from error
            self._expect_own_code(self._tables)
            self._session = opened.enter_context(closing(connect(self._info, "snapshot", autocommit=True)))
            self._session.execute("SET lock_timeout = '10s'")
            read_tables_alone(self._session)
            self._session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            self.position, other = self._at()
            if other:
                # Others import ours, so that it lasts for as long as this session does.
                read_as_of(self._session, other)
            self.id, text = exported(self._session)
            self.snapshot = Snapshot(text)
            # Nobody is to have what the source can still lose in a crash.
            flush(flushing)
            # So all that it shows was written to the server's log before. A slot that is made later begins behind that.
            self._flushed = 0
            if slot.recorded(flushing, self._parts):
                (_, self._flushed) = flushing.execute(composed("capture/log/written")).fetchone() or (0, 0)
            holders = [self._locks.session, self._session]
            opened.enter_context(LockYield(self._info, self.id, self._yields_after_s, holders))
            self._opened = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.__exit__(kind, error, trace)

    def keep_locked(self, unread: Collection[TableName]) -> None:
        """Unlock tables of which no row is to be read any more, as far as the order of the locks allows."""
        self._locks.keep(unread)

    def expect_complete(self) -> None:
        """See that it shows no watched table but those it was taken for: what happened to another up to here would be
        taken for loaded. Raises TransientError SLC-095.
        """
        with self._reading("looking at the registry") as session:
            watched = {TableName(*row) for row in session.execute(composed("capture/ddl/watched", **self._parts))}
        if others := watched - set(self._tables):
            raise changing(", ".join(map(str, sorted(others))))

    def definitions(self) -> list[PostgresTable]:
        """The tables, as the snapshot's catalog has them."""
        with self._reading("reading the catalog") as session:
            return definition.several(session, self._tables)

    def leaves(self) -> list[Leaf]:
        """The relations to copy, in the order in which their tables are unlocked."""
        return self._leaves

    @cached_property
    def _leaves(self) -> list[Leaf]:
        with self._reading("reading the catalog") as session:
            return definition.leaves(session, self._parts, self._locks.order)

    def published(self) -> bool:
        """Whether nothing that the snapshot shows is queued any more, nor in the slot; what was purged is in the change
        log.
        """
        showing = composed("capture/queue/showing", **self._parts)
        with translated("looking what is published"), connect(self._info, "dump", autocommit=True) as session:
            if session.execute(showing, {"snapshot": self.snapshot.text}).fetchone() != (False,):
                return False
            with closing(SlotServer(self._info, lambda: session, self._parts, self._standby)) as at:
                return slot.is_published(at, self._resources, self._parts, self._flushed) is not False

    def dropped(self) -> list[str]:
        """The DROPs that it shows and that are not published yet, in order: the texts that they carry."""
        with self._reading("looking at ITEMS") as session:
            return [text for (text,) in session.execute(composed("capture/ddl/dropped", **self._parts))]

    def filled(self) -> set[TableName]:
        """The tables that have rows in the snapshot."""
        self._expect_own_code(self._tables)
        with self._reading("looking for rows") as session:
            return relations.filled(session, {name: name for name in self._tables})

    def sorting(self, table: TableName) -> list[str | None]:
        """For each column of a table's key a text that identifies its sort order on any server; None if unknown."""
        with self._reading("reading the catalog") as session:
            order = relations.order(session, table)
            return relations.sorting(session, table, order.columns) if order else []

    def order(self, table: TableName) -> str | None:
        """The order of a table's keys; None if it has no primary key that identifies and sorts its rows."""
        with self._reading("reading the catalog") as session:
            found = relations.order(session, table)
        return found.sign if found else None

    def cuts(self, within: KeyRange, parts: int) -> list[Key]:
        """The keys at which a range is cut into parts, about as large as each other; none if its table is small."""
        blocks = sum(leaf.extent for leaf in self._leaves if leaf.table == within.table)
        with self._reading("planning the blocks") as session:
            order = relations.order(session, within.table)
            if order is None or blocks < _BLOCKS_A_PART * parts:
                return []
            self._expect_own_code([within.table])
            key = [sql.Identifier(column) for column in order.columns]
            cuts = composed(
                "read/cuts",
                key=sql.SQL(", ").join(key),
                last=sql.SQL(", ").join(sql.SQL("{} DESC").format(column) for column in key),
                rows=relations.rows_of(session, within.table),
                within=between(order.columns, within),
                parts=sql.Literal(parts),
                percent=sql.Literal(min(100.0, 100 * _BLOCKS_SAMPLED / blocks)),
            )
            return keys(session.execute(cuts))

    def expect_bounds(self, within: KeyRange) -> None:
        """See that the bounds of a range are keys of its table, and the last is not before the first."""
        bounds = [bound for bound in (within.first, within.until) if bound]
        self._expect_own_code([within.table])
        with self._reading("planning the blocks") as session:
            order = relations.order(session, within.table)
            columns = order.columns if order else ()
            try:
                for one, other in [*zip(bounds, bounds, strict=True), *pairwise(bounds)]:
                    self._expect_sorted(within.table, columns, one, other)
            except (ValueError, psycopg.DataError) as error:
                raise SluiceError(
                    640,
                    f"no keys of {within.table} are so: {str(error).splitlines()[0]}",
                    f"nothing was changed on the slave; trigger initial_update again with values of its key: "
                    f"{', '.join(columns)}",
                ) from None

    def _expect_sorted(self, table: TableName, columns: Sequence[str], one: Key, other: Key) -> None:
        if len(other) > len(columns):
            raise ValueError(f"{', '.join(other)} are more values than it has columns")
        read = sql.SQL("coalesce((SELECT {} FROM {} LIMIT 0), %s)")
        rows, pairs = relations.rows_of(self._session, table), list(zip(columns, one, other, strict=False))
        side = sql.SQL(", ").join(read.format(sql.Identifier(column), rows) for column, *_ in pairs)
        asked = composed("read/sorted", one=side, other=side)
        values = [value for _, value, _ in pairs] + [value for *_, value in pairs]
        if self._session.execute(asked, values).fetchone() != (True,):
            raise ValueError(f"{', '.join(other)} is before {', '.join(one)}")

    def _expect_own_code(self, tables: Sequence[TableName]) -> None:
        """Check that no code of others runs when these are read, in a session that sees the current catalog."""
        with translated("looking whose code would run"):
            planned_code.expect_none(self._locks.session, tables, self._trusted)

    @contextmanager
    def _reading(self, doing: str) -> Iterator[Connection]:
        """Read something while the tables are locked."""
        with translated(doing), self._session.transaction(force_rollback=True):
            yield self._session
        # Without the locks, rows may be missing in what was read.
        with translated(doing):
            self._locks.session.execute("SELECT")
