"""An Oracle slave: its position and fence, and one transaction a batch (R3, R4, R6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager

import oracledb
import pyarrow as pa

from sluice.apply.mapping.table_view import view
from sluice.apply.net.effects import Run, Step
from sluice.config.mapper import Mapper
from sluice.config.models import WipeOut
from sluice.connections import ConnectionInfo
from sluice.crash import CrashPoint, reached
from sluice.model.action import Action, Command
from sluice.model.layout import Column, Layout
from sluice.model.loss import Loss
from sluice.model.names import Pair, Resources, TableName
from sluice.model.position import Position, Snapshot
from sluice.model.row_conflict import Tolerated
from sluice.model.sequence import SequenceValue
from sluice.model.statement import Answered, Statement
from sluice.model.write_policy import DEFAULT_POLICIES, WritePolicies
from sluice.vendors.oracle import fence, slave_refusals
from sluice.vendors.oracle.catalog.slave_tables import existing, table_of
from sluice.vendors.oracle.errors import translated
from sluice.vendors.oracle.load.tables import OracleTables
from sluice.vendors.oracle.names import composed
from sluice.vendors.oracle.read.compare import aligned
from sluice.vendors.oracle.session import connect, execute, transaction, whole_values
from sluice.vendors.oracle.write.writer import TableWriter
from sluice.vendors.protocol.capabilities import Capabilities
from sluice.vendors.protocol.load import TableDefinition, TableFit
from sluice.vendors.protocol.slave import Replayed, StepsOf


class OracleSlave:
    """See `sluice.vendors.protocol.slave.SlaveDatabase`."""

    def __init__(
        self, info: ConnectionInfo, pair: Pair, schema: str, mapper: Mapper, masters: Collection[Resources] = ()
    ) -> None:
        self.info = info
        self.pair = pair
        self.mapper = mapper
        self.lasting = False
        self.schema = schema
        self.parts = fence.our_tables(schema)
        self._epoch = self._ordinal = 0
        self._session: oracledb.Connection | None = None
        self._writer: TableWriter | None = None

    def capabilities(self) -> Capabilities:
        """DDL commits here, and nothing that acts is silenced."""
        return Capabilities()

    def fit(self, tables: Mapping[TableName, Sequence[Column]]) -> TableFit:
        """Look whether those of these tables that are there take every row, and whether the others could be made."""
        return self._fit([Layout(0, name, tuple(columns)) for name, columns in tables.items()], keyed=False)

    def loadable(
        self, tables: Sequence[TableDefinition], wanted: WipeOut | None = None, *, resume: bool = False
    ) -> TableFit:
        """See that tables can be filled; nothing is written."""
        if wanted:
            self.wiped(wanted)
        for table in tables:
            slave_refusals.expect_replaced(self.pair, self.mapper, table.name)
        return self._fit([table.layout for table in tables], keyed=True)

    def _fit(self, layouts: Iterable[Layout], *, keyed: bool) -> TableFit:
        with translated("looking at the slave's tables"):
            session = self._open()
            slave_refusals.expect_fit(session, self.pair, self.schema)
            for layout in layouts:
                seen = view(self.mapper, layout).layout
                slave_refusals.expect_own(self.pair, self.schema, seen.name)
                # Who asks by the columns alone does not say which of them are the key.
                if keyed and existing(session, seen) is None:
                    table_of(seen)
        return TableFit()

    def looks_through(self, layout: Layout) -> bool:
        """Rows without a key are compared as a whole, which no index does."""
        return not layout.key

    def guarded(self, tables: Sequence[TableName]) -> list[str]:
        """None: tables with triggers or foreign keys are refused where rows come."""
        return []

    def expect_unguarded(self, tables: Sequence[TableName]) -> None:
        """See `guarded`."""

    def loosen(self, tables: Collection[TableName]) -> None:
        """Nothing to do: no table has foreign keys."""

    def take_over(self, epoch: int, *, blocks: bool = True) -> tuple[Position, Snapshot | None]:
        """Raise the fence; how far the slave is. A session that hangs with a lock is for a DBA to end."""
        with translated(f"taking over {self.pair}"):
            session = self._open()
            slave_refusals.expect_fit(session, self.pair, self.schema)
            fence.make_tables(session, self.parts)
            position, snapshot = fence.raised(session, self.parts, self.pair, epoch)
        self._epoch, self._ordinal = epoch, position.ordinal
        return position, snapshot

    def apply(
        self,
        steps: Iterable[Step],
        end: Position,
        sequences: Sequence[SequenceValue] = (),
        answered: Answered | None = None,
        policies: WritePolicies = DEFAULT_POLICIES,
    ) -> Tolerated:
        """One transaction: the steps in order, the position. Returns which rows were not as expected.

        Raises:
            FencedError: SLC-050, another job took over; the transaction is rolled back.
            SluiceError: SLC-516, a value that a column cannot hold; SLC-519, SLC-520, a command or a statement;
                SLC-521, changes that are to be looked at one by one; or what `TableWriter` raises.
        """
        tolerated = Tolerated()
        with translated(f"applying a batch to {self.pair.slave}"):
            session = self._open()
            writer = self._writer = self._writer or TableWriter(session)
            writer.look_up()
            with transaction(session):
                fence.lock_fence(session, self.parts, self.pair, self._epoch)
                for step in steps:
                    if isinstance(step, Command):
                        self._refuse(step, answered)
                    else:
                        self._expect_plain(step, policies)
                        tolerated += writer.write(step)
                reached(CrashPoint.MERGED)
                moved = {"segment": end.segment, "ordinal": end.ordinal, "epoch": self._epoch}
                fence.advance(session, self.parts, self.pair, {**moved, "moved_from": self._ordinal})
                _commit_durably(session)
        self._ordinal = end.ordinal
        return tolerated

    def doubts(self, command: Command) -> tuple[str, ...]:
        """A command is refused, also one that a person approved."""
        self._refuse(command, None)
        return ()

    def _refuse(self, command: Command, answered: Answered | None) -> None:
        if command.action is not Action.STATEMENT:
            raise slave_refusals.ddl(self.pair, command)
        if answered is not None:
            raise slave_refusals.statement(self.pair)

    def _expect_plain(self, run: Run, policies: WritePolicies) -> None:
        for effect in run:
            if policies.for_table(effect.layout.name).by_row or effect.layout.searched:
                raise slave_refusals.not_supported(
                    self.pair,
                    f"writing {effect.layout.name} row by row (searchable, on_missing, on_duplicate, before, after)",
                    "take these settings out of the configuration; nothing is lost",
                )

    def carry_out(
        self, numbers: Collection[int], kept: Collection[int], steps: StepsOf, answered: Answered
    ) -> Tolerated:
        """Refused: nothing records which rejected changes the slave has."""
        raise slave_refusals.not_supported(
            self.pair,
            "carrying out a rejected change",
            "fill it anew by initial_update; what is kept can be dropped then",
        )

    def replay(
        self,
        changes: pa.Table,
        layouts: Mapping[int, Layout],
        begin: Position,
        end: Position,
        collected: int,
        sequences: Sequence[SequenceValue] = (),
    ) -> Replayed:
        """Replays nothing: transactions are applied as batches."""
        return Replayed(begin)

    def understands(self, statement: Statement) -> None:
        """No statement is. Raises SluiceError SLC-520."""
        raise slave_refusals.statement(self.pair)

    def make_durable(self) -> None:
        """Every commit is, see `take_over`."""

    def losses(self, tables: Mapping[TableName, Sequence[Column]], wiped: WipeOut | None) -> list[Loss]:
        """None that could be allowed: a table that does not take every row is refused."""
        return []

    def wiped(self, wanted: WipeOut) -> list[str]:
        """Refused. Raises SluiceError SLC-521."""
        raise slave_refusals.not_supported(
            self.pair, "`wipe_out`", "nothing was changed; take `wipe_out` out of the configuration"
        )

    def loading(self, epoch: int, earlier: int | None = None, wanted: WipeOut | None = None) -> OracleTables:
        """The tables of this slave, for a dump under an epoch of its own."""
        return OracleTables(self, epoch, earlier)

    def merging(self, tables: Sequence[TableDefinition]) -> set[TableName]:
        """None of them: rows come once, from one snapshot."""
        return set()

    def aligned(self, at: Position, patience_s: float) -> AbstractContextManager[str]:
        """A change number at which the slave is exactly at a point of the stream."""
        return aligned(self.info, self.parts, self.pair, at, patience_s)

    def begin_update(self, position: Position, snapshot: Snapshot) -> None:
        """Set where the slave's new data stands in the stream, and what it saw. Raises FencedError SLC-050."""
        with translated("setting the position"), transaction(session := self._open()):
            fence.lock_fence(session, self.parts, self.pair, self._epoch)
            point = {"segment": position.segment, "ordinal": position.ordinal, "snapshot": snapshot.text}
            names = {"source": self.pair.source, "slave": self.pair.slave, "epoch": self._epoch}
            execute(session, composed("position/begin_update", **self.parts), {**names, **point})
            _commit_durably(session)
        self._ordinal = position.ordinal

    def close(self) -> None:
        """End the session."""
        if self._session is not None and self._session.is_healthy():
            self._session.close()
        self._session = self._writer = None

    def _open(self) -> oracledb.Connection:
        if self._session is None or not self._session.is_healthy():
            self._session, self._writer = connect(self.info, f"slave {self.pair}"), None
            self._session.outputtypehandler = whole_values
        return self._session


def _commit_durably(session: oracledb.Connection) -> None:
    """A commit that waits for the disk, whatever COMMIT_WAIT of the database says: the log is trimmed below it (R3)."""
    execute(session, composed("capture/queue/commit_durably"))
