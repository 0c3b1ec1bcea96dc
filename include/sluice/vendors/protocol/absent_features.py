"""Members of the ports that are the same for each vendor that lacks a feature."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sluice.errors import SluiceError
    from sluice.model.names import TableName
    from sluice.model.statement import Statement, TransactionOutcome, TransactionRef
    from sluice.vendors.protocol.read import Key, KeyRange


class NoStatements(ABC):
    """A `Capture` of a source on which no statement can be issued."""

    @abstractmethod
    def no_statements(self) -> SluiceError:
        """The error that refuses one."""

    def understands(self, text: str) -> None:
        """Refuse it."""
        raise self.no_statements()

    def issue(
        self,
        statement: Statement,
        commits: Callable[[Statement, TransactionRef], None],
        *,
        varying: bool,
        portable: bool = False,
    ) -> None:
        """Refuse it."""
        raise self.no_statements()

    def fate(self, traced: TransactionRef, *, end: bool = False) -> TransactionOutcome:
        """Refuse it: none was issued."""
        raise self.no_statements()


class NoSuccessors:
    """A `Capture` of a source whose servers do not tell who took the place of whom."""

    def state(self) -> None:
        """None: it would tell nothing."""
        return None

    def begin_behind(self, last_key: int) -> None:
        """Nothing: no server takes the place of another."""

    def set_events_aside(self) -> list[str]:
        """Nothing: no server is upgraded with a source on it."""
        return []


class WholeTables:
    """A `DumpSnapshot` of tables that are not loaded by ranges of keys, and whose DROP is no command."""

    def dropped(self) -> list[str]:
        """None."""
        return []

    def order(self, table: TableName) -> str | None:
        """None."""
        return None

    def sorting(self, table: TableName) -> Sequence[str | None]:
        """Nothing is known of it."""
        return []

    def cuts(self, within: KeyRange, parts: int) -> list[Key]:
        """None."""
        return []


class Unheld(WholeTables):
    """Also one that is a place of the master's history, for which nothing is held open or locked."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is held open."""

    def keep_locked(self, unread: Collection[TableName]) -> None:
        """No table is locked."""
