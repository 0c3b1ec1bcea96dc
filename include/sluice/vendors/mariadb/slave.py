"""A MariaDB slave: its position and fence, and one InnoDB transaction a batch (R3, R4, R6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager

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
from sluice.model.statement import Answered
from sluice.model.write_policy import DEFAULT_POLICIES, WritePolicies
from sluice.vendors.batches_alone import BatchesAlone
from sluice.vendors.committed_ddl import Intent, Plan
from sluice.vendors.mariadb import fence, refusals
from sluice.vendors.mariadb.catalog.tables import existing, expect_makeable, table_of
from sluice.vendors.mariadb.ddl.commands import MariaCommands
from sluice.vendors.mariadb.errors import translated
from sluice.vendors.mariadb.load.tables import MariaTables
from sluice.vendors.mariadb.read.compare import aligned
from sluice.vendors.mariadb.session import (
    Connection,
    composed,
    connect,
    execute,
    expect_kept,
    hold_lock,
    our_tables,
    transaction,
)
from sluice.vendors.mariadb.write.writer import TableWriter
from sluice.vendors.protocol.ddl_errors import session_ended


class MariaSlave(BatchesAlone):
    """See `sluice.vendors.protocol.slave.SlaveDatabase`."""

    def __init__(
        self, info: ConnectionInfo, pair: Pair, schema: str, mapper: Mapper, masters: Collection[Resources] = ()
    ) -> None:
        self.info = info
        self.pair = pair
        self.mapper = mapper
        self.lasting = False
        self.parts = our_tables(schema)
        self._schema = schema
        self._epoch = self._ordinal = 0
        self._session: Connection | None = None
        self._writer: TableWriter | None = None
        self._commands: MariaCommands | None = None

    def not_supported(self, what: str, hint: str) -> SluiceError:
        """See `BatchesAlone`."""
        return refusals.not_supported(self.pair, what, hint)

    def part_way(self) -> PartWay | None:
        """See `SlaveDatabase`."""
        return self._commands.part_way() if self._commands else None

    def doubts(self, command: Command) -> tuple[str, ...]:
        """None: of a definition only columns and the key come here, and nothing of them is executed."""
        return ()

    def look_at(self, layouts: Iterable[Layout], *, keyed: bool) -> None:
        """See `BatchesAlone`."""
        with translated("looking at the slave's tables"):
            session = self._open()
            fence.expect_durable(session, self.pair)
            for layout in layouts:
                with name_table(layout.name), translated("looking at the slave's table"):
                    seen = view(self.mapper, layout).layout
                    # Who asks by the columns alone does not say which of them are the key.
                    if keyed and existing(session, seen) is None:
                        expect_makeable(session, table_of(seen, session.server))

    def take_over(self, epoch: int, *, blocks: bool = True) -> tuple[Position, Snapshot | None]:
        """Raise the fence, ending sessions that hold it; how far the slave is."""
        with translated(f"taking over {self.pair}"):
            session = self._open()
            fence.expect_durable(session, self.pair)
            execute(session, composed("position/position", **self.parts, collation=session.server.collation))
            execute(session, composed("position/loaded", **self.parts, collation=session.server.collation))
            position, snapshot = fence.raised(session, self.parts, self.pair, epoch)
            self._commands = MariaCommands(session, self.pair, self.mapper, self.parts)
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
            TransientError: SLC-083, the session that took over has ended.
            SluiceError: SLC-431, a value that a column cannot hold; SLC-104 or SLC-103, a statement; SLC-438, changes
                that are to be looked at one by one; SLC-565, nobody can tell whether a command was carried out; or what
                `TableWriter` and `MariaCommands` raise.
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
            for step in coming:
                if not isinstance(step, Command):
                    self.expect_plain(step, policies)
                    tolerated += writer.write(step)
                elif step.action is Action.STATEMENT:
                    if answered is not None:
                        self._answer(session, step.text, answered)
                elif due := commands.due(step):
                    commands.intend(*due)
                    if due[0].commits:
                        return tolerated, due
            crash_if_asked(CrashPoint.MERGED)
            moved = {"segment": end.segment, "ordinal": end.ordinal, "epoch": self._epoch, "from": self._ordinal}
            fence.advance(session, self.parts, self.pair, moved)
            commands.forget_behind(end)
        return tolerated, None

    def _answer(self, session: Connection, text: str, answered: Answered) -> None:
        # A parser takes long to import, and hardly a drain needs it.
        from sluice.vendors.mariadb.statements.execution import carry_out

        carry_out(session, text, self.mapper, self.pair, answered)

    def loading(self, epoch: int, earlier: int | None = None, wanted: WipeOut | None = None) -> MariaTables:
        """The tables of this slave, for a dump under an epoch of its own."""
        return MariaTables(self, epoch, earlier)

    def aligned(self, at: Position, patience_s: float) -> AbstractContextManager[str]:
        """The slave exactly at a point of the stream, where it is held."""
        return aligned(self.info, self.parts, self.pair, at, patience_s)

    def begin_update(self, position: Position, snapshot: Snapshot) -> None:
        """Set where the slave's new data stands in the stream, and what it saw. Raises FencedError SLC-050."""
        with translated("setting the position"), transaction(session := self._open()):
            fence.lock_fence(session, self.parts, self.pair, self._epoch)
            point = {"segment": position.segment, "ordinal": position.ordinal, "snapshot": snapshot.text}
            names = {"source": self.pair.source, "slave": self.pair.slave, "epoch": self._epoch}
            execute(session, composed("position/begin_update", **self.parts), {**names, **point})
            execute(session, composed("ddl/forget", **self.parts), names)
        self._ordinal = position.ordinal

    def close(self) -> None:
        """End the session."""
        if self._session is not None and self._session.open:
            self._session.close()
        self._session = self._writer = self._commands = None

    def _taken_over(self) -> MariaCommands:
        """Commands, in the session that took over: another one may not know what was begun."""
        self._open()
        if self._commands is None:
            raise session_ended(self.pair.slave)
        return self._commands

    def _open(self) -> Connection:
        if self._session is None or not self._session.open:
            self._session, self._writer = connect(self.info, f"slave {self.pair}"), None
            self._commands = None
            expect_kept(self._session, f"`schema` of {self.pair.slave}", self._schema)
            hold_lock(self._session, self.pair)
        return self._session
