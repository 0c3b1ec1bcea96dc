"""What every vendor offers: the ports of a source and of a slave, and the capabilities that core code asks for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from sluice.apply.net.effects import Step
from sluice.config.mapper import Mapper
from sluice.config.models import WipeOut
from sluice.model.action import Command
from sluice.model.foreign_code import ForeignCode
from sluice.model.layout import Column, Layout
from sluice.model.loss import Loss
from sluice.model.names import Pair, TableName
from sluice.model.position import Position, Snapshot
from sluice.model.row_conflict import Tolerated
from sluice.model.sequence import SequenceValue
from sluice.model.statement import Answered, Statement, TransactionOutcome, TransactionRef
from sluice.model.unwatched import Unwatched
from sluice.model.watched import Wanted, Watch
from sluice.model.write_policy import DEFAULT_POLICIES, WritePolicies
from sluice.vendors.protocol.load import At, DumpSnapshot, SlaveTables, TableFit
from sluice.vendors.protocol.sweep import Purge, Sweep

StepsOf = Callable[[Collection[int]], Iterable[Step]]
# A transaction of more changes is not replayed: writing it by sets is so much faster then.
MOST_REPLAYED = 20_000


@dataclass(frozen=True)
class Capabilities:
    """What a database, or the role we have on it, can do; core code never asks for a vendor's name."""

    event_triggers: bool = False
    transactional_ddl: bool = False
    silent_triggers: bool = False


@dataclass(frozen=True)
class Installed:
    """What bootstrap changed: tables that got a trigger, and tables that lost it.

    Attributes:
        stages: the watched tables in the order in which they are loaded; those of a stage bear one sequence number.
        cycles: tables that refer to each other in a circle, so that none of them can come first.
        unwatched: tables that are named and not watched, most of them because they are still to be made.
    """

    added: tuple[TableName, ...] = ()
    removed: tuple[TableName, ...] = ()
    stages: tuple[tuple[TableName, ...], ...] = ()
    cycles: tuple[tuple[TableName, ...], ...] = ()
    unwatched: tuple[Unwatched, ...] = ()


@dataclass(frozen=True)
class Replayed:
    """How far a replay came: where the slave is now, and which rows were not as expected."""

    position: Position
    tolerated: Tolerated = field(default_factory=Tolerated)


class SourceDatabase(Protocol):
    """A master, as the publisher, the dump and the verifier see it."""

    def capabilities(self) -> Capabilities:
        """What this source and our role on it can do."""

    def install(
        self,
        watched: Mapping[TableName, Watch],
        wanted: Wanted,
        *,
        recreate: bool = False,
        unreadable: Collection[TableName] = (),
        notice: Callable[[str], None] | None = None,
    ) -> Installed:
        """Install or reconcile the DbResources and the triggers, in one transaction, dropping nothing that exists.

        What is queued of `unreadable` tables is forgotten: their slaves must be INCONSISTENT before.
        """

    def upgrade(self, wanted: Wanted) -> None:
        """Bring DbResources of an older version up to this one; what they know of tables is compared as ever then."""

    def claim(self, store: str, *, by_force: bool = False) -> None:
        """Let the source be captured for one control store, by the id of that.

        Raises:
            ConfigError: SLC-299, it is for another one.
        """

    def unreadable(self) -> list[TableName]:
        """Watched tables whose columns changed and nobody recorded it, so that what is queued cannot be read."""

    def poll_ddl(self) -> None:
        """Send what changed as commands, where DDL is not seen as it happens or could not be recorded. Watch tables
        that are wanted and not watched yet; one that cannot be watched now is tried again later, and stops nobody."""

    def silenced(self) -> list[TableName]:
        """Watched tables whose triggers were dropped or disabled by somebody, so that changes are not known."""

    def locked(self) -> list[str]:
        """Watched tables that others lock even against readers, and who, in sentences, where that keeps us from seeing
        how they are altered."""

    def take_up(self) -> None:
        """Watch tables that somebody added to the registry; those that cannot be now are tried again later."""

    def has_outdated_events(self) -> bool:
        """Whether what somebody made for our role to see DDL is not what this version makes: it runs all the same."""

    def is_installed(self) -> bool:
        """Whether the DbResources are there, in the version that this code works with."""

    def remarks(self, tables: Mapping[TableName, Watch]) -> list[str]:
        """What is worth knowing of these tables before they are replicated: what of them is not captured, or late."""

    def without_old(self, tables: Mapping[TableName, Watch]) -> list[Layout]:
        """Those of these tables whose updates say nothing of what a row was if its key stayed."""

    def grants(self, tables: Sequence[TableName], *, activity: bool = False) -> str:
        """The script that gives our role what capturing these tables needs, and what seeing activity does."""

    def remove(self, before: Callable[[], None]) -> list[str]:
        """Drop every DbResource of this source in one transaction; what was dropped. `before` is called once we may."""

    def eligible(self, schemas: Collection[str]) -> list[TableName]:
        """The tables of these schemas that wildcards may take."""

    def present(self, tables: Sequence[TableName]) -> dict[TableName, TableName]:
        """Those of these tables that exist, by what they are called today, each with the name that it is meant by."""

    def unwatched(self, tables: Sequence[TableName]) -> list[Unwatched]:
        """Those of these tables, and of those that somebody registered by hand, that are not watched, and why."""

    def dumpable(self, watched: Mapping[TableName, Watch]) -> Sequence[Any]:
        """See that tables, which are there, can be watched and read; their definitions. Nothing is written or locked.

        Raises:
            SluiceError: SLC-041, SLC-069, SLC-130, one of them cannot be watched; SLC-033, SLC-360, or not be read.
        """

    def foreign_code(self) -> list[ForeignCode]:
        """What of the watched tables has code of others run with our rights when a query of them is planned."""

    def columns(self, tables: Sequence[TableName]) -> Mapping[TableName, Sequence[Column]]:
        """The columns of these tables, none for what is no table of the source."""

    def take_over(self, epoch: int) -> None:
        """Raise the fence to `epoch`; a publisher with a lower one cannot commit from then on (R6)."""

    def queued(self) -> bool:
        """Whether ITEMS holds anything."""

    def sweep(self, epoch: int, max_changes: int | None, until: str | None = None) -> AbstractContextManager[Sweep]:
        """Read ITEMS in one snapshot; nothing that an older one does not show (`until`): then `more` is exact."""

    def reclaim(self) -> None:
        """Let ITEMS use the room of purged changes again, if our role may; no writer waits for it."""

    def forget_layouts(self) -> None:
        """Forget the columns of relations that are gone, once nothing of them is queued. Not within a sweep."""

    def heal(self, epoch: int, purge: Purge, changes: Iterable[Mapping[str, Sequence[object]]]) -> bool:
        """Purge again what is in the log, by `keys` and `transactions`, some at a time; not if one is missing (R2)."""

    def accept(self, epoch: int, segment: int, sha256: str) -> str:
        """Take this source as the one whose log ends with `segment`; its incarnation."""

    def sequences(self) -> list[SequenceValue]:
        """How far the sequences of watched tables have come by now; no row of an earlier snapshot is beyond that.

        Raises:
            TransientError: somebody alters one of them.
        """

    def understands(self, text: str) -> None:
        """Whether a statement may be issued. Raises SluiceError SLC-100 or SLC-101 before it is kept anywhere."""

    def issue(
        self, statement: Statement, commits: Callable[[Statement, TransactionRef], None], *, varying: bool
    ) -> None:
        """Execute a statement and record it in ITEMS, in one transaction; its rows are not captured beside it.

        Args:
            commits: told the statement with its answer, and its transaction, when nothing but the commit is missing;
                if it raises, all is rolled back.
            varying: execute it although it may do something else on another node.
        """

    def fate(self, traced: TransactionRef, *, end: bool = False) -> TransactionOutcome:
        """What became of the transaction of a statement; `end` ends a session that still has it open."""

    def exported_snapshot(self) -> AbstractContextManager[tuple[str, str]]:
        """Hold a snapshot open for others: (id to import, text to compare with)."""

    def dump_snapshot(
        self,
        stages: Sequence[Sequence[TableName]],
        log_end: Callable[[], Position],
        at: At | None = None,
        yields_after_s: float | None = None,
    ) -> AbstractContextManager[DumpSnapshot]:
        """Lock the tables against DDL, read the log's end, take a snapshot and hold it.

        Args:
            stages: the tables, in the order in which they are read.
            at: asked for a point of the log, and the snapshot of it, which is taken instead.
            yields_after_s: all that holds or reads the snapshot ends, and its block with SLC-275, as soon as a
                statement of others has waited so long for one of the tables; None or 0: never.
        """

    def shape(self, snapshot_id: str, name: TableName) -> Layout | None:
        """The columns of a table and its primary key, as an exported snapshot shows them; None if it is not watched
        there."""

    def close(self) -> None:
        """End the sessions."""


class SlaveDatabase(Protocol):
    """A slave, as the drain, the dump and the verifier see it.

    Attributes:
        lasting: it keeps what rows were before.
    """

    pair: Pair
    mapper: Mapper
    lasting: bool

    def capabilities(self) -> Capabilities:
        """What this slave and our role on it can do."""

    def fit(self, tables: Mapping[TableName, Sequence[Column]]) -> TableFit:
        """Look whether those of these tables that are there take every row of the master's.

        Raises:
            SluiceError: SLC-071 or SLC-073, the first that does not; SLC-029 if the position tables have no schema.
        """

    def loadable(self, tables: Sequence[Any], wanted: WipeOut | None = None, *, resume: bool = False) -> TableFit:
        """See that tables of the master can be filled by an initial update; nothing is written or locked.

        Args:
            tables: their definitions, as `SourceDatabase.dumpable` gives them.
            wanted: a schema that is wiped out before.
            resume: rows that an earlier update has brought may stay, so those that are there are no reason to refuse.

        Raises:
            SluiceError: the first reason why not: SLC-071, SLC-073, SLC-074, SLC-076, SLC-077, SLC-078, SLC-244 of a
                table; SLC-210, SLC-211, SLC-212, SLC-232 of the rows that it has; SLC-213 to SLC-216 of the schema;
                SLC-156, SLC-198 of files; SLC-029, SLC-033, SLC-038 of the server.
            TransientError: it cannot be asked now.
        """

    def looks_through(self, layout: Layout) -> bool:
        """Whether rows of a table that it sees so are found by looking at all that it has. Asked by any thread."""

    def guarded(self, tables: Sequence[TableName]) -> list[str]:
        """Triggers and foreign keys of the slave that act on what the drain writes, though it silences what it may."""

    def expect_unguarded(self, tables: Sequence[TableName]) -> None:
        """See that these tables can be written to: nothing acts on what is written, or the role may silence it.

        Raises:
            SluiceError: SLC-074, something would act a second time.
        """

    def loosen(self, tables: Collection[TableName]) -> None:
        """These tables get no changes for a time, so rows of others may lack those that they refer to."""

    def take_over(self, epoch: int, *, blocks: bool = True) -> tuple[Position, Snapshot | None]:
        """Raise the fence to `epoch`, ending whoever holds it, but who puts in a block (R10) only if `blocks`; returns
        how far the slave is and the snapshot its data began with."""

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
            answered: told what became of each statement; without it statements are passed over.
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
            SluiceError: the command cannot be carried out, whoever would allow it.
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
            SluiceError: SLC-173.
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
        """Whether a statement can be put under this slave's names. Raises SluiceError SLC-103 if not."""

    def make_durable(self) -> None:
        """Wait until everything committed here so far is on the disk (R3)."""

    def losses(self, tables: Mapping[TableName, Sequence[Column]], wiped: WipeOut | None) -> list[Loss]:
        """What the columns of tables that are there would lose of the master's, given by its columns.

        Args:
            wiped: what goes before an initial update.
        """

    def wiped(self, wanted: WipeOut) -> list[str]:
        """What an initial update drops of a schema before it makes its tables, each with its type.

        Raises:
            SluiceError: SLC-213, SLC-214, there is no such schema, or it is not to be wiped out; SLC-215, others are
                connected, which is not to be.
        """

    def loading(self, epoch: int, earlier: int | None = None, wanted: WipeOut | None = None) -> SlaveTables:
        """The tables, for a dump under an epoch of its own; what is in since an `earlier` one of the same may stay.

        Args:
            wanted: a schema that is wiped out, if none of that stays.
        """

    def merging(self, tables: Sequence[Any]) -> set[TableName]:
        """Those into which rows of several snapshots may come, now or once they are made (R5); nothing is changed."""

    def aligned(self, at: Position, patience_s: float) -> AbstractContextManager[str]:
        """A snapshot of the slave exactly at a point of the stream, held open; its id, to import (R10)."""

    def close(self) -> None:
        """End the session."""
