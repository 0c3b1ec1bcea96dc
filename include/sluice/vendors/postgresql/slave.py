"""A PostgreSQL slave: its position and fence, and one transaction a batch (R3, R4, R6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

import psycopg
import pyarrow as pa

from sluice.apply.mapping.table_view import view
from sluice.apply.net.effects import Step
from sluice.config.mapper import Mapper
from sluice.config.models import WipeOut
from sluice.connections import ConnectionInfo
from sluice.crash import CrashPoint, crash_if_asked
from sluice.errors import FencedError, SluiceError
from sluice.model.action import Action, Command
from sluice.model.layout import Column, Layout
from sluice.model.loss import Loss
from sluice.model.names import Pair, Resources, TableName
from sluice.model.position import Position, Snapshot
from sluice.model.row_conflict import Tolerated
from sluice.model.sequence import SequenceValue
from sluice.model.statement import Answered, Statement
from sluice.model.write_policy import DEFAULT_POLICIES, WritePolicies
from sluice.vendors.postgresql import fence, migrations, ownership
from sluice.vendors.postgresql import sequences as following
from sluice.vendors.postgresql.capture import needed_calls, warnings
from sluice.vendors.postgresql.capture.loop_filter import LoopFilter
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.neutral import as_ours
from sluice.vendors.postgresql.catalog.row_identity import merges
from sluice.vendors.postgresql.copy_formats import BINARY
from sluice.vendors.postgresql.ddl import apply
from sluice.vendors.postgresql.ddl.compatibility import expect_lasting, fitting, losses, other_types
from sluice.vendors.postgresql.ddl.names import names_of
from sluice.vendors.postgresql.ddl.trust import Judged
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.load import deferred_indexes, preflight
from sluice.vendors.postgresql.load.foreign_keys import WaitingForeignKeys, writing
from sluice.vendors.postgresql.load.tables import PostgresTables
from sluice.vendors.postgresql.load.wipe_schema import wiped
from sluice.vendors.postgresql.lock_holders import LOCK_WAIT, naming_holders
from sluice.vendors.postgresql.read.compare import aligned
from sluice.vendors.postgresql.session import (
    Connection,
    another_session,
    composed,
    keep,
    limit_lock_waits,
    refuse_read_only,
    restore,
)
from sluice.vendors.postgresql.write import commands
from sluice.vendors.postgresql.write.one_to_one import OneToOne
from sluice.vendors.postgresql.write.side_effects import silence
from sluice.vendors.postgresql.write.writer import TableWriter
from sluice.vendors.protocol.capabilities import Capabilities
from sluice.vendors.protocol.load import TableDefinition, TableFit
from sluice.vendors.protocol.read import TakenFormats
from sluice.vendors.protocol.slave import AtPosition, Replayed, StepsOf


class PostgresSlave(AtPosition):
    """See `sluice.vendors.protocol.slave.SlaveDatabase`."""

    def __init__(
        self, info: ConnectionInfo, pair: Pair, schema: str, mapper: Mapper, masters: Collection[Resources] = ()
    ) -> None:
        self.info, self.pair, self.mapper = info, pair, mapper
        self.schema, self.masters = schema, masters
        self.lasting = self.portable_alone = False
        self.parts = migrations.parts_of_slave(schema)
        self._epoch = self._ordinal = 0
        self._session: Connection | None = None
        self._writer: TableWriter | None = None
        self._one_to_one: OneToOne | None = None
        self._silent = False
        self._judged: dict[int, Judged] = {}

    def capabilities(self) -> Capabilities:
        """The capabilities of this slave and of our role on it."""
        self._open()
        return Capabilities(transactional_ddl=True, silent_triggers=self._silent)

    def fit(self, tables: Mapping[TableName, Sequence[Column]]) -> TableFit:
        """Check that existing tables can take all rows of the master; returns warnings about them."""
        found = TableFit(TakenFormats({BINARY}))
        with translated("looking at the slave's tables"):
            refuse_read_only(self._open())
            self._open().execute("SELECT quote_ident(%s)::regnamespace", [self.schema])
            names = names_of(self._open(), self.mapper)
            for name, columns in tables.items():
                layout = view(self.mapper, Layout(0, name, tuple(columns))).layout
                if existing := fitting(self._open(), layout, names):
                    found.warnings.extend(warnings.for_slave(self._open(), layout))
                if other_types(layout, existing, names):
                    found.formats.as_text.add(name)
        return found

    def loadable(
        self, tables: Sequence[TableDefinition], wanted: WipeOut | None = None, *, resume: bool = False
    ) -> TableFit:
        """See that tables can be filled; nothing is written."""
        with translated("looking at the slave's tables"), self._open().transaction():
            refuse_read_only(self._open())
            self._open().execute("SELECT quote_ident(%s)::regnamespace", [self.schema])
            limit_lock_waits(self._open(), "10s")
            self._open().execute("SET TRANSACTION READ ONLY")
            found = preflight.loadable(
                self._open(),
                self.mapper,
                as_ours(tables),
                silent=self._silent,
                wiped=wanted,
                ours=migrations.IN_SLAVE,
                unindexed=deferred_indexes.lacking(self._open(), self.parts["indexes"]),
                resume=resume,
            )
        needed_calls.expect_allowed_on_slave(self._open())
        with translated("looking at definitions"), self._open().transaction(force_rollback=True):
            limit_lock_waits(self._open(), "10s")
            preflight.expect_trusted(self._open(), self.mapper, as_ours(tables), wanted)
        return found

    def looks_through(self, layout: Layout) -> bool:
        """Rows without a key are compared as a whole, which no index does."""
        return not layout.key

    def guarded(self, tables: Sequence[TableName]) -> list[str]:
        """Triggers and foreign keys of the slave that act on what the drain writes, with their tables."""
        with translated("looking at the slave's tables"):
            effects = [relations.side_effects(self._open(), name) for name in map(self.mapper.table, tables)]
            return [f"{one.name} on {one.table}" for found in effects for one in found if one.fires]

    def expect_lasting(self, tables: Sequence[TableName]) -> None:
        """See that none is unlogged."""
        with translated("looking at the slave's tables"):
            expect_lasting(self._open(), [self.mapper.table(name) for name in tables])

    def table_files(self, tables: Sequence[TableName]) -> dict[TableName, str]:
        """Their numbers, and those of their files."""
        with translated("looking at the slave's tables"):
            masters = {self.mapper.table(name): name for name in tables}
            return {masters[name]: text for name, text in relations.files(self._open(), masters).items()}

    def loosen(self, tables: Collection[TableName]) -> None:
        """Drop foreign keys of these tables for the time, if they hold back anything."""
        if not tables or self.capabilities().silent_triggers:
            return
        session = self._open()
        with translated("dropping foreign keys"), session.transaction():
            fence.lock_fence(session, self.parts["position"], self.pair, self._epoch)
            loop_filter = LoopFilter(session, self.masters)
            slave_tables = [self.mapper.table(name) for name in tables]
            loop_filter.record(sorted(WaitingForeignKeys(session, self.parts).put_off(slave_tables, all_=False)))
            loop_filter.remove()

    def install(self) -> None:
        """Create the position's tables if they are missing, bring those of an older version up to this one."""
        session = self._open()
        with translated("installing the position's tables"), session.transaction():
            position = TableName(self.schema, "sluice_position")
            known = ownership.existing(session, self.schema, migrations.IN_SLAVE)
            if migrations.install_in_slave(session, self.pair.slave, position, self.parts):
                ownership.keep_to_ourselves(session, self.schema, migrations.IN_SLAVE, known)
                # Where others may make things, one of a name of ours could have come in between.
                ownership.refuse_strange_in_slave(session, self.schema)

    def take_over(self, epoch: int, *, blocks: bool = True) -> tuple[Position, Snapshot | None]:
        """Raise the fence, ending sessions that hold it; how far the slave is."""
        self.install()
        with translated("taking the drain's place"):
            take_over, holder = (composed(f"position/{name}", **self.parts) for name in ("take_over", "holder"))
            values = {"epoch": epoch, "loads": fence.loads(self.pair, blocks=blocks)}
            row = fence.raised(self._open(), take_over, holder, {**self._names(), **values})
            if row is None:
                raise FencedError(50, f"a drain of {self.pair} with an epoch above {epoch} is at work")
            restore(self._open())
        # A slave that crashes would let in older processes again (R6).
        self.make_durable()
        self._epoch, self._ordinal = epoch, row[1]
        return Position(row[0], row[1]), Snapshot(row[2]) if row[2] else None

    def apply(
        self,
        steps: Iterable[Step],
        end: Position,
        sequences: Sequence[SequenceValue] = (),
        answered: Answered | None = None,
        policies: WritePolicies = DEFAULT_POLICIES,
    ) -> Tolerated:
        """One transaction: the steps in order, the sequences, the position. Returns which rows were not as expected.

        Raises:
            KeyConflict: a row of the slave, or of a later transaction, bears a key of this batch.
            FencedError: SLC-050, another job took over; the transaction is rolled back.
        """
        session = self._open()
        with self._applying(session, f"applying a batch to {self.pair.slave}"):
            fence.lock_fence(session, self.parts["position"], self.pair, self._epoch)
            tolerated = self._written(session, steps, sequences, answered, policies)
            crash_if_asked(CrashPoint.MERGED)
            self._advance(session, end)
        self._ordinal = end.ordinal
        return tolerated

    def doubts(self, command: Command) -> tuple[str, ...]:
        """The definitions of a command that need a decision; nothing is changed."""
        if command.action not in (Action.CREATE, Action.ALTER):
            return ()
        try:
            change = command.table_change()
        except ValueError:
            # The one that is to carry it out says so.
            return ()
        with translated("looking at a definition"):
            judged = self._judged[command.key] = apply.judge(self._open(), change, self.mapper, command.existing)
            return judged.doubts

    def carry_out(
        self, numbers: Collection[int], kept: Collection[int], steps: StepsOf, answered: Answered
    ) -> Tolerated:
        """Changes of earlier, each once, in one transaction that is on the disk when this returns."""
        self.install()
        session = self._open()
        named = {**self._names(), "numbers": list(numbers), "kept": list(kept)}
        with self._applying(session, f"carrying out changes on {self.pair.slave}"):
            restore(session)
            session.execute(composed("write/forget_carried_out", **self.parts), named)
            left = session.execute(composed("write/carried_out", **self.parts), named).fetchall()
            tolerated = self._written(session, steps([number for (number,) in left]), answered=answered)
            session.execute("SET LOCAL synchronous_commit = on")
            return tolerated

    @contextmanager
    def _applying(self, session: Connection, doing: str) -> Iterator[None]:
        assert self._writer is not None
        with naming_holders(self.info, session), writing(doing), self._writer.stages.transaction():
            yield

    def _written(
        self,
        session: Connection,
        steps: Iterable[Step],
        sequences: Sequence[SequenceValue] = (),
        answered: Answered | None = None,
        policies: WritePolicies = DEFAULT_POLICIES,
    ) -> Tolerated:
        assert self._writer is not None
        tolerated = Tolerated()
        self._judged.clear()
        if not self._silent:
            session.execute("SET CONSTRAINTS ALL DEFERRED")
        loop_filter, references = LoopFilter(session, self.masters), self._references(session)
        first = True
        for step in steps:
            if isinstance(step, Command):
                judged = self._judged.pop(step.key, None)
                try:
                    if commands.execute(
                        session, step, self.mapper, loop_filter, references, answered, judged, silent=self._silent
                    ):
                        self._writer.look_up()
                finally:
                    # A function of a user may have given up what is prepared here, or put something else in its
                    # place, which no rollback undoes.
                    self._writer.forget()
                    self._one_to_one = None
                continue
            tolerated += self._writer.write(step, policies, first=first)
            first = False
        following.follow(session, self.mapper, sequences)
        if made := references.make_again():
            loop_filter.record(sorted(made))
        loop_filter.remove()
        return tolerated

    def _references(self, session: Connection) -> WaitingForeignKeys:
        def lacking() -> set[TableName]:
            rows = session.execute(composed("load/foreign_keys/filling", **self.parts), self._names())
            return {self.mapper.table(TableName(*row)) for row in rows}

        return WaitingForeignKeys(session, self.parts, lacking)

    def replay(
        self,
        changes: pa.Table,
        layouts: Mapping[int, Layout],
        begin: Position,
        end: Position,
        collected: int,
        sequences: Sequence[SequenceValue] = (),
    ) -> Replayed:
        """Each transaction of the master as one of the slave's, pipelined; see `sluice.vendors.protocol.slave`.

        Raises:
            FencedError: SLC-050, another job took over.
        """
        session = self._open()
        assert self._writer is not None
        if self.masters:
            # What these are not to hear of is taken out of their queues by statements of its own.
            return Replayed(begin)
        try:
            with naming_holders(self.info, session), translated(f"replaying transactions to {self.pair.slave}"):
                # A sequence may be ahead of the rows that used it.
                following.follow(session, self.mapper, sequences)
                if self._one_to_one is None:
                    self._one_to_one = OneToOne(session, self._writer, self.parts["position"])
                done = self._one_to_one.replay((self.pair, self._epoch), changes, layouts, begin, end, collected)
                self._ordinal = done.position.ordinal
                return done
        except SluiceError as error:
            if isinstance(error.__cause__, psycopg.errors.InvalidSqlStatementName):
                raise another_session(session) from error
            if isinstance(error.__cause__, psycopg.errors.DivisionByZero):
                restore(session)
                raise fence.fenced(self.pair, self._epoch) from error
            raise

    def losses(self, tables: Mapping[TableName, Sequence[Column]], wiped: WipeOut | None) -> list[Loss]:
        """The losses of the columns of existing tables that are not dropped."""
        with translated("looking at the slave's tables"):
            views = [view(self.mapper, Layout(0, name, tuple(columns))) for name, columns in tables.items()]
            goes = wiped.schema_ if wiped and wiped.tables else None
            staying = [seen for seen in views if seen.layout.name.schema != goes]
            return losses(self._open(), staying, names_of(self._open(), self.mapper))

    def wiped(self, wanted: WipeOut) -> list[str]:
        """The objects that an initial update drops, each with its type."""
        with translated("looking at what is to be wiped out"):
            return [f"{one.kind} {one.name}" for one in wiped(self._open(), wanted, migrations.IN_SLAVE)]

    def loading(self, epoch: int, earlier: int | None = None, wanted: WipeOut | None = None) -> PostgresTables:
        """The tables of this slave, for a dump under an epoch of its own."""
        return PostgresTables(self, epoch, earlier, wanted)

    def merging(self, tables: Sequence[TableDefinition]) -> set[TableName]:
        """The tables whose rows a primary key alone identifies, or will once they are created."""
        with translated("looking at the slave's tables"):
            return {one.name for one in as_ours(tables) if merges(self._open(), self.mapper, one, made=True)}

    def aligned(self, at: Position, patience_s: float) -> AbstractContextManager[str]:
        """A snapshot of the slave exactly at a point of the stream, held open; its id, to import."""
        return aligned(self.info, self.pair, self.schema, self.parts, at, patience_s)

    def begin_update(self, position: Position, snapshot: Snapshot) -> None:
        """Set where the slave's new data stands in the stream, and what it saw."""
        with translated("setting the position"), self._open().transaction():
            point = {"segment": position.segment, "ordinal": position.ordinal, "snapshot": snapshot.text}
            begun = {**self._names(), "epoch": self._epoch, **point}
            moved = self._open().execute(composed("position/begin_update", **self.parts), begun)
            if moved.rowcount != 1:
                raise fence.fenced(self.pair, self._epoch)
        self._ordinal = position.ordinal

    def understands(self, statement: Statement) -> None:
        """Whether a statement can be put under this slave's names."""
        from sluice.vendors.postgresql.statements import parser

        parser.mapped(statement.sql, self.mapper, statement.schema)

    def make_durable(self) -> None:
        """Wait until all that this session committed is on the disk: the log may be trimmed below it then (R3)."""
        session = self._session or self._open()
        with translated("flushing the slave"), session.transaction():
            session.execute("SET LOCAL synchronous_commit = on")
            session.execute(composed("session/make_durable"))

    def close(self) -> None:
        """End the session."""
        if self._session is not None:
            self._session.close()
            self._session = self._writer = self._one_to_one = None

    def _open(self) -> Connection:
        if self._session is None or self._session.closed:
            name = f"drain {self.pair.slave}"
            session = ownership.session_on_slave(self.info, name, self.schema, lock_wait=LOCK_WAIT)
            with translated("beginning a session on the slave"):
                # Data and position stand or fall together: a crash of the slave only makes the log deliver again (R3).
                keep(session, synchronous_commit="off", work_mem="64MB")
                # Cascades of the master arrive as changes of their own; the slave's must not act a second time.
                self._silent = silence(session)
                self._writer, self._one_to_one = TableWriter(session, self.mapper, self.info), None
            self._session = session
        return self._session

    def _advance(self, session: Connection, end: Position) -> None:
        values = {"epoch": self._epoch, "from": self._ordinal, "segment": end.segment, "ordinal": end.ordinal}
        if session.execute(composed("position/advance", **self.parts), self._names() | values).rowcount != 1:
            raise fence.fenced(self.pair, self._epoch)

    def _names(self) -> dict[str, str]:
        return {"source": self.pair.source, "slave": self.pair.slave}
