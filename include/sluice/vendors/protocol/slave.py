"""The port of a slave, which every vendor implements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sluice.apply.net.effects import Step
from sluice.model.row_conflict import Tolerated
from sluice.model.write_policy import DEFAULT_POLICIES, WritePolicies

if TYPE_CHECKING:
    import pyarrow as pa

    from sluice.config.mapper import Mapper
    from sluice.config.models import WipeOut
    from sluice.model.action import Command
    from sluice.model.layout import Column, Layout
    from sluice.model.loss import Loss
    from sluice.model.names import Pair, TableName
    from sluice.model.position import PartWay, Position, Snapshot
    from sluice.model.sequence import SequenceValue
    from sluice.model.statement import Answered, Statement
    from sluice.vendors.protocol.capabilities import Capabilities
    from sluice.vendors.protocol.load import SlaveTables, TableDefinition, TableFit

StepsOf = Callable[[Collection[int]], Iterable[Step]]
# A transaction of more changes is not replayed: writing it by sets is so much faster then.
MOST_REPLAYED = 20_000


@dataclass(frozen=True)
class Replayed:
    """How far a replay came: where the slave is now, and which rows were not as expected."""

    position: Position
    tolerated: Tolerated = field(default_factory=Tolerated)


class SlaveDatabase(Protocol):
    """A slave, as the drain, the dump and the verifier see it.

    Attributes:
        lasting: it keeps what rows were before.
        portable_alone: it executes portable statements, and no others; see `sluice.vendors.portable`.
    """

    pair: Pair
    mapper: Mapper
    lasting: bool
    portable_alone: bool

    def capabilities(self) -> Capabilities:
        """The capabilities of this slave and of our role on it."""

    def fit(self, tables: Mapping[TableName, Sequence[Column]]) -> TableFit:
        """Look whether those of these tables that are there take every row of the master's.

        Raises:
            SluiceError: SLC-073, the first that does not; SLC-003 if the position tables have no schema.
        """

    def loadable(
        self, tables: Sequence[TableDefinition], wanted: WipeOut | None = None, *, resume: bool = False
    ) -> TableFit:
        """See that tables of the master can be filled by an initial update; nothing is written or locked.

        Args:
            tables: their definitions, as `MasterDatabase.dumpable` gives them.
            wanted: a schema that is wiped out before.
            resume: rows that an earlier update has brought may stay, so those that are there are no reason to refuse.

        Raises:
            SluiceError: the first reason why not: SLC-073, SLC-074, SLC-076, SLC-432 of a
                table; SLC-210, SLC-438 of the rows that it has; to SLC-215 of the schema;
                SLC-432 of files; SLC-003, SLC-033, SLC-038 of the server.
            TransientError: it cannot be asked now.
        """

    def looks_through(self, layout: Layout) -> bool:
        """Whether rows of a table that it sees so are found by looking at all that it has. Asked by any thread."""

    def guarded(self, tables: Sequence[TableName]) -> list[str]:
        """Triggers and foreign keys of the slave that act on what the drain writes, though it silences what it may."""

    def expect_lasting(self, tables: Sequence[TableName]) -> None:
        """See that a crash of the server leaves the rows of these tables of the master.

        Raises:
            SluiceError: SLC-645, it would take the rows of one, or has taken them.
        """

    def table_files(self, tables: Sequence[TableName]) -> Mapping[TableName, str]:
        """For each of these tables of the master that is there, a text that changes if somebody empties it at once,
        rewrites it or puts another one in its place. Empty where the vendor cannot tell.
        """

    def loosen(self, tables: Collection[TableName]) -> None:
        """These tables get no changes for a time, so rows of others may lack those that they refer to."""

    def take_over(self, epoch: int, *, blocks: bool = True) -> tuple[Position, Snapshot | None]:
        """Raise the fence to `epoch`; returns how far the slave is, and the snapshot its data began with.

        Sessions that hold the fence are ended; those that put in a block (R10) only if `blocks`.
        """

    def part_way(self) -> PartWay | None:
        """The place behind its position up to which the slave has all changes, in front of a command that it began.

        None: it is at its position. Only a slave without the capability `transactional_ddl` is ever part way.

        `apply` is given nothing that comes before that place.
        """

    def apply(
        self,
        steps: Iterable[Step],
        end: Position,
        sequences: Sequence[SequenceValue] = (),
        answered: Answered | None = None,
        policies: WritePolicies = DEFAULT_POLICIES,
    ) -> Tolerated:
        """One transaction: the steps in order, the sequences, the position. Returns which rows were not as expected.

        Args:
            answered: called with the result of each statement; without it statements are skipped.
            manners: how changes of some tables are carried out.

        Raises:
            KeyConflict: a row of the slave, or of a later transaction, bears a key of this batch.
            Unfit: a table of the slave does not take its rows.
            FencedError: somebody took over; the transaction is rolled back.
        """

    def doubts(self, command: Command) -> Sequence[str]:
        """What of a command of the master the slave does not make by itself, since it may execute a text or reach
        outside, each with why; nothing is changed. It is asked within `apply`, in front of the command.

        Raises:
            SluiceError: the command cannot be carried out, even if somebody allows it.
        """

    def carry_out(
        self, numbers: Collection[int], kept: Collection[int], steps: StepsOf, answered: Answered
    ) -> Tolerated:
        """Apply rejected changes in one durable transaction; returns the row conflicts that were met.

        Args:
            numbers: the rejected changes to apply; those that were applied before are left out.
            kept: all that the control store still has; marks of others are removed.
            steps: makes the steps of the remaining numbers.
            answered: called with the outcome of each statement.

        Raises:
            SluiceError: SLC-468.
        """

    def replay(
        self,
        changes: pa.Table,
        layouts: Mapping[int, Layout],
        begin: Position,
        end: Position,
        collected: int,
        sequences: Sequence[SequenceValue] = (),
    ) -> Replayed:
        """Each transaction of the master as one of the slave's, with the position, in order; about a second's worth.

        It ends in front of what has to be applied instead: commands, a table whose keys are checked late, whatever the
        slave refuses. It may come to nothing at all.

        Args:
            changes: those of the transactions after `begin` up to `end`, all of one segment; columns as in `CHANGES`.
            layouts: of the tables that may be replayed.
            collected: transactions share one until it has so many changes; 0: none does.

        Raises:
            FencedError: somebody took over; what was not committed before is rolled back.
        """

    def understands(self, statement: Statement) -> None:
        """Whether a statement can be put under this slave's names. Raises SluiceError SLC-103 or SLC-577 if not."""

    def make_durable(self) -> None:
        """Wait until everything committed here so far is on the disk (R3)."""

    def losses(self, tables: Mapping[TableName, Sequence[Column]], wiped: WipeOut | None) -> list[Loss]:
        """The losses of columns of existing tables against the master's, given by its columns.

        Args:
            wiped: what goes before an initial update.
        """

    def wiped(self, wanted: WipeOut) -> list[str]:
        """The objects of a schema that an initial update drops before it makes its tables, each with its type.

        Raises:
            SluiceError: SLC-438, SLC-214, there is no such schema, or it is not to be wiped out; SLC-215, others are
                connected, which is not to be.
        """

    def loading(self, epoch: int, earlier: int | None = None, wanted: WipeOut | None = None) -> SlaveTables:
        """The tables, for a dump under an epoch of its own; what is in since an `earlier` one of the same may stay.

        Args:
            wanted: a schema that is wiped out, if none of that stays.
        """

    def merging(self, tables: Sequence[TableDefinition]) -> set[TableName]:
        """Those into which rows of several snapshots may come, now or once they are made (R5); nothing is changed."""

    def aligned(self, at: Position, patience_s: float) -> AbstractContextManager[str]:
        """A snapshot of the slave exactly at a point of the stream, held open; its id, to import (R10)."""

    def close(self) -> None:
        """End the session."""


class AtPosition:
    """A `SlaveDatabase` that carries out commands in the transaction of their batch, or none."""

    def part_way(self) -> PartWay | None:
        """None: it is at its position."""
        return None
