"""An Oracle slave: its position and fence, and one transaction a batch (R3, R4, R6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager

import oracledb

from sluice.apply.mapping.table_view import view
from sluice.apply.net.effects import Step
from sluice.config.mapper import Mapper
from sluice.config.models import WipeOut
from sluice.connections import ConnectionInfo
from sluice.crash import CrashPoint, crash_if_asked
from sluice.errors import SluiceError
from sluice.library_errors import name_table
from sluice.model.action import Action, Command
from sluice.model.layout import Layout
from sluice.model.names import Pair, Resources
from sluice.model.position import PartWay, Position, Snapshot
from sluice.model.row_conflict import Tolerated
from sluice.model.sequence import SequenceValue
from sluice.model.statement import Answered, Statement
from sluice.model.write_policy import DEFAULT_POLICIES, WritePolicies
from sluice.vendors.batches_alone import BatchesAlone
from sluice.vendors.committed_ddl import Intent, Plan
from sluice.vendors.oracle import fence, slave_refusals
from sluice.vendors.oracle.catalog.slave_tables import existing, table_of
from sluice.vendors.oracle.ddl.commands import OracleCommands
from sluice.vendors.oracle.errors import translated
from sluice.vendors.oracle.load import wipe_schema
from sluice.vendors.oracle.load.tables import OracleTables
from sluice.vendors.oracle.names import composed
from sluice.vendors.oracle.read.compare import aligned
from sluice.vendors.oracle.session import connect, execute, transaction, whole_values
from sluice.vendors.oracle.write.writer import TableWriter
from sluice.vendors.protocol.ddl_errors import session_ended
from sluice.vendors.protocol.load import TableDefinition, TableFit


class OracleSlave(BatchesAlone):
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
        self._commands: OracleCommands | None = None

    def not_supported(self, what: str, hint: str) -> SluiceError:
        """See `BatchesAlone`."""
        return slave_refusals.not_supported(self.pair, what, hint)

    def part_way(self) -> PartWay | None:
        """See `SlaveDatabase`."""
        return self._commands.part_way() if self._commands else None

    def doubts(self, command: Command) -> tuple[str, ...]:
        """None: of a definition only columns and the key come here, and nothing of them is executed."""
        return ()

    def loadable(
        self, tables: Sequence[TableDefinition], wanted: WipeOut | None = None, *, resume: bool = False
    ) -> TableFit:
        """See that tables can be filled; nothing is written. Those that are wiped out before are not looked at."""
        goes = wanted is not None and not resume
        if wanted and goes:
            self.wiped(wanted)
        for table in tables:
            self.expect_replaced(table.name)
        self._look_at([table.layout for table in tables], keyed=True, goes=bool(goes and wanted and wanted.tables))
        return TableFit()

    def look_at(self, layouts: Iterable[Layout], *, keyed: bool) -> None:
        """See `BatchesAlone`."""
        self._look_at(layouts, keyed=keyed, goes=False)

    def _look_at(self, layouts: Iterable[Layout], *, keyed: bool, goes: bool) -> None:
        with translated("looking at the slave's tables"):
            session = self._open()
            slave_refusals.expect_fit(session, self.pair, self.schema)
            if keyed:
                slave_refusals.expect_rights(session, self.pair)
            for layout in layouts:
                with name_table(layout.name), translated("looking at the slave's table"):
                    seen = view(self.mapper, layout).layout
                    slave_refusals.expect_own(self.pair, self.schema, seen.name)
                    # Who asks by the columns alone does not say which of them are the key.
                    if keyed and (goes or existing(session, seen) is None):
                        table_of(seen)

    def take_over(self, epoch: int, *, blocks: bool = True) -> tuple[Position, Snapshot | None]:
        """Raise the fence; how far the slave is. A session that hangs with a lock is for a DBA to end."""
        with translated(f"taking over {self.pair}"):
            session = self._open()
            slave_refusals.expect_fit(session, self.pair, self.schema)
            fence.make_tables(session, self.parts)
            position, snapshot = fence.raised(session, self.parts, self.pair, epoch)
            self._commands = OracleCommands(session, self.pair, self.schema, self.mapper, self.parts)
            self._commands.begin()
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
        """The steps in order, and the position. Returns which rows were not as expected.

        That is one transaction, but for commands of the master: each is carried out between two of them, and the slave
        is part way behind its position until the last one (see `committed_ddl`).

        Raises:
            FencedError: SLC-050, another job took over; the transaction is rolled back.
            TransientError: SLC-083, the session that took over has ended; the answer to a commit was lost.
            SluiceError: SLC-431, a value that a column cannot hold; SLC-104, SLC-577 or SLC-103, a statement; SLC-438,
                changes that are to be looked at one by one; SLC-565, nobody can tell whether a command was carried out;
                or what `TableWriter` and `OracleCommands` raise.
        """
        with translated(f"applying a batch to {self.pair.slave}"):
            tolerated = self._taken_over().apply(
                steps, end, self._epoch, lambda coming: self._written(coming, end, answered, policies)
            )
        self._ordinal = end.ordinal
        return tolerated

    def _written(
        self, coming: Iterator[Step], end: Position, answered: Answered | None, policies: WritePolicies
    ) -> tuple[Tolerated, tuple[Plan, Intent] | None]:
        """One transaction: up to the next command that is to be executed, or to the end."""
        tolerated = Tolerated()
        session, commands = self._open(), self._taken_over()
        writer = self._writer = self._writer or TableWriter(session)
        writer.look_up()
        with transaction(session):
            fence.lock_fence(session, self.parts, self.pair, self._epoch)
            commands.expect_known()
            for step in coming:
                if not isinstance(step, Command):
                    self.expect_plain(step, policies)
                    tolerated += writer.write(step)
                elif step.action is Action.STATEMENT:
                    if answered is not None:
                        self._answer(writer, step.text, answered)
                elif due := commands.due(step):
                    commands.intend(*due)
                    if due[0].commits:
                        _commit_durably(session)
                        return tolerated, due
            crash_if_asked(CrashPoint.MERGED)
            moved = {"segment": end.segment, "ordinal": end.ordinal, "epoch": self._epoch}
            fence.advance(session, self.parts, self.pair, {**moved, "moved_from": self._ordinal})
            commands.forget_behind(end)
            _commit_durably(session)
        return tolerated, None

    def _answer(self, writer: TableWriter, text: str, answered: Answered) -> None:
        # A parser takes long to import, and hardly a drain needs it.
        from sluice.vendors.oracle.statements.execution import carry_out

        carry_out(self._open(), writer, text, self.mapper, self.pair, answered)

    def understands(self, statement: Statement) -> None:
        """See `BatchesAlone`. Some literals mean something else here."""
        from sluice.vendors.oracle.statements.dialect import expect_no_odd_text
        from sluice.vendors.portable.parser import portable

        super().understands(statement)
        expect_no_odd_text(portable(statement.sql, statement.schema))

    def loading(self, epoch: int, earlier: int | None = None, wanted: WipeOut | None = None) -> OracleTables:
        """The tables of this slave, for a dump under an epoch of its own."""
        return OracleTables(self, epoch, earlier, wanted)

    def wiped(self, wanted: WipeOut) -> list[str]:
        """What an initial update drops first. Raises SluiceError SLC-214, SLC-215, it cannot."""
        with translated("looking at what is to be wiped out"):
            return [str(one) for one in wipe_schema.wiped(self._open(), wanted, self.schema)]

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
            fence.forget_command(session, self.parts, self.pair)
            _commit_durably(session)
        self._ordinal = position.ordinal

    def close(self) -> None:
        """End the session."""
        if self._session is not None and self._session.is_healthy():
            self._session.close()
        self._session = self._writer = self._commands = None

    def _taken_over(self) -> OracleCommands:
        """Commands, in the session that took over: another one may not know what was begun."""
        self._open()
        if self._commands is None:
            raise session_ended(self.pair.slave)
        return self._commands

    def _open(self) -> oracledb.Connection:
        if self._session is None or not self._session.is_healthy():
            self._session, self._writer = connect(self.info, f"slave {self.pair}"), None
            self._session.outputtypehandler = whole_values
            self._commands = None
        return self._session


def _commit_durably(session: oracledb.Connection) -> None:
    """A commit that waits for the disk, whatever COMMIT_WAIT of the database says: the log is trimmed below it (R3)."""
    execute(session, composed("capture/queue/commit_durably"))
