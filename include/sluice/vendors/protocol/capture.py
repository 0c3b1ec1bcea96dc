"""One way of capturing the changes of a master: a queue that triggers fill, a replication slot, a binlog."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sluice.errors import ConfigError

if TYPE_CHECKING:
    from sluice.config.logical_decoding import Decoding
    from sluice.connections import ConnectionInfo
    from sluice.model.kept_log import KeptLog
    from sluice.model.layout import Layout
    from sluice.model.names import TableName
    from sluice.model.statement import Statement, TransactionOutcome, TransactionRef
    from sluice.model.unwatched import Unwatched
    from sluice.model.watched import Watch, WatchSettings
    from sluice.vendors.protocol.capabilities import Capabilities
    from sluice.vendors.protocol.sweep import Purge, SourceState, Sweep


def expect_no_decoding(decoding: Decoding | None) -> None:
    """Refuse settings of a log that is decoded by the server. Raises ConfigError SLC-438."""
    if decoding is not None:
        raise ConfigError(
            438,
            "a source of this vendor has no `decoding`: Sluice reads its log as it is",
            "nothing was opened; take `decoding` out of the source, or fix `vendor`",
        )


def expect_no_standby(standby: ConnectionInfo | None) -> None:
    """Refuse a standby to decode on. Raises ConfigError SLC-438."""
    if standby is not None:
        raise ConfigError(
            438,
            "a source of this vendor has no `standby_connection`: its log is read from the master",
            "nothing was opened; take `standby_connection` out of the source, or fix `vendor`",
        )


@dataclass(frozen=True)
class Installed:
    """The changes of a bootstrap: tables that got a trigger, and tables that lost it.

    Attributes:
        stages: the watched tables in the order in which they are loaded; those of a stage bear one sequence number.
        cycles: tables that refer to each other in a circle, so that none of them can come first.
        unwatched: tables that are named and not watched, most of them because they are still to be made.
        changed_over: the source is captured in another way from here on.
    """

    added: tuple[TableName, ...] = ()
    removed: tuple[TableName, ...] = ()
    stages: tuple[tuple[TableName, ...], ...] = ()
    cycles: tuple[tuple[TableName, ...], ...] = ()
    unwatched: tuple[Unwatched, ...] = ()
    changed_over: bool = False


class Capture(Protocol):
    """The capture of a master's changes, as bootstrap and the publisher see it."""

    def capabilities(self) -> Capabilities:
        """The capabilities of this source and of our role on it."""

    def install(
        self,
        watched: Mapping[TableName, Watch],
        wanted: WatchSettings,
        *,
        recreate: bool = False,
        unreadable: Collection[TableName] = (),
        notice: Callable[[str], None] | None = None,
    ) -> Installed:
        """Install or reconcile the DbResources and the triggers, in one transaction, dropping nothing that exists.

        What is queued of `unreadable` tables is forgotten: their slaves must be INCONSISTENT before.
        """

    def upgrade(self, wanted: WatchSettings) -> None:
        """Bring DbResources of an older version up to this one; what they know of tables is compared as ever then."""

    def claim(self, store: str, *, by_force: bool = False) -> None:
        """Let the source be captured for one control store, by the id of that.

        Raises:
            ConfigError: SLC-299, it is for another one.
        """

    def unreadable(self) -> list[TableName]:
        """Find watched tables whose columns changed without a record. Their queued changes cannot be read.

        Raises:
            AlteredMeanwhile: SLC-095, one was altered since the last look for changes, which may tell.
        """

    def poll_ddl(self) -> None:
        """Send what changed as commands, where DDL is not seen as it happens or could not be recorded. Watch tables
        that are wanted and not watched yet; one that cannot be watched now is tried again later, and stops nobody.
        """

    def silenced(self) -> list[TableName]:
        """Watched tables whose triggers were dropped or disabled by somebody, so that changes are not known."""

    def locked(self) -> list[str]:
        """Watched tables that others lock even against readers, and who, in sentences, where that keeps us from seeing
        how they are altered.
        """

    def take_up(self) -> None:
        """Watch tables that somebody added to the registry; those that cannot be now are tried again later."""

    def has_outdated_events(self) -> bool:
        """Whether what somebody made for our role to see DDL is not what this version makes: it runs all the same."""

    def is_installed(self) -> bool:
        """Whether the DbResources are there, in the version that this code works with."""

    def remarks(self, tables: Mapping[TableName, Watch]) -> list[str]:
        """Remarks on these tables before they are replicated: changes that are not captured, or late."""

    def without_old(self, tables: Mapping[TableName, Watch]) -> list[Layout]:
        """Those of these tables whose updates say nothing of what a row was if its key stayed."""

    def grants(self, tables: Sequence[TableName], *, schemas: Collection[str] = (), activity: bool = False) -> str:
        """The script that gives our role what capturing these tables needs, and what seeing activity does.

        Args:
            schemas: those of wildcards, also of tables that our role does not see yet.
        """

    def remove(self, before: Callable[[], None]) -> list[str]:
        """Drop every DbResource of this source in one transaction; what was dropped. `before` is called once we may."""

    def present(self, tables: Sequence[TableName]) -> dict[TableName, TableName]:
        """Those of these tables that exist, by what they are called today, each with the name that it is meant by."""

    def unwatched(self, tables: Sequence[TableName]) -> list[Unwatched]:
        """Find which of these tables, and of the tables that the source knows as wanted, are not watched, and why."""

    def take_over(self, epoch: int) -> None:
        """Raise the fence to `epoch`; a publisher with a lower one cannot commit from then on (R6)."""

    def state(self) -> SourceState | None:
        """The server, and its record of its publisher; None where nothing is installed, or where the vendor knows
        no successors (`SourceState.succeeds`).
        """

    def begin_behind(self, last_key: int) -> None:
        """Let an installation that is still to be made draw no REPL_KEY up to this one."""

    def set_events_aside(self) -> list[str]:
        """Drop what sees DDL as it happens, until bootstrap makes it again; the names of others' that stay."""

    def queued(self) -> bool:
        """Whether ITEMS holds anything."""

    def count_queued(self, most: int) -> int:
        """How many changes ITEMS holds, counted up to so many."""

    def kept_log(self) -> KeptLog | None:
        """What the server keeps of its own log for the capture; None if nothing, or if it does not say."""

    def sweep(self, epoch: int, max_changes: int | None, until: str | None = None) -> AbstractContextManager[Sweep]:
        """Read ITEMS in one snapshot; nothing that an older one does not show (`until`): then `more` is exact."""

    def backlog(self) -> str | None:
        """An opaque text: what the last sweep knows of the rest of a long queue; None if nothing of it is left."""

    def go_on_with(self, backlog: str) -> None:
        """Let the next sweep go on where one of another session ended, by the `backlog` of that."""

    def reclaim(self) -> None:
        """Let ITEMS use the room of purged changes again, if our role may; no writer waits for it."""

    def forget_layouts(self) -> None:
        """Forget the columns of relations that are gone, once nothing of them is queued. Not within a sweep."""

    def heal(self, epoch: int, purge: Purge, changes: Iterable[Mapping[str, Sequence[object]]]) -> bool:
        """Purge again what is in the log, by `keys` and `transactions`, some at a time; not if one is missing (R2)."""

    def accept(self, epoch: int, segment: int, sha256: str) -> str:
        """Take this source as the one whose log ends with `segment`; its incarnation."""

    def understands(self, text: str) -> None:
        """Whether a statement may be issued. Raises SluiceError SLC-100 or SLC-101 before it is kept anywhere."""

    def issue(
        self,
        statement: Statement,
        commits: Callable[[Statement, TransactionRef], None],
        *,
        varying: bool,
        portable: bool = False,
    ) -> None:
        """Execute a statement and record it in ITEMS, in one transaction; its rows are not captured beside it.

        Args:
            commits: called with the statement, its answer, and its transaction, when nothing but the commit is missing;
                if it raises, all is rolled back.
            varying: execute it although it may do something else on another node.
            portable: refuse it unless it means the same in every database, and nothing acts beside it.
        """

    def fate(self, traced: TransactionRef, *, end: bool = False) -> TransactionOutcome:
        """The fate of the transaction of a statement; `end` ends a session that still has it open."""

    def close(self) -> None:
        """End the sessions."""
