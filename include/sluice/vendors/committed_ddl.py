"""Commands of the master on a slave whose DDL commits by itself: each is carried out exactly once (R3).

1. The rows in front of a command are committed, and with them an intent: the place of the command in the stream, and
   the catalog's words about its table before and after it. From here on the slave is part way behind its position.
2. The command is executed, by one statement that is carried out as a whole or not at all.
3. The rows behind it are committed with the position, and the intent goes. Or the intent of the next command replaces
   it.

A job that finds an intent is given the stream from that place on. Whether the command was executed is decided by the
catalog alone; a table that is neither as it was nor as it is to be is left to a person.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from sluice.apply.net.effects import Step
from sluice.crash import CrashPoint, crash_if_asked
from sluice.errors import SluiceError
from sluice.model.action import Command, Existing
from sluice.model.names import Pair, TableName
from sluice.model.position import PartWay, Position
from sluice.model.row_conflict import Tolerated
from sluice.model.table_definition import TableChange
from sluice.vendors.protocol.ddl_errors import not_ours

# By a table's schema and name, as JSON: its columns as the catalog has them, sorted; None if it is not there.
State = Mapping[str, list[list[str | None]] | None]


def key_of(table: TableName) -> str:
    """A table's key in a `State`."""
    return json.dumps([table.schema, table.table])


def tables_of(state: State) -> list[TableName]:
    """The tables of a `State`."""
    return [TableName(*json.loads(key)) for key in state]


@dataclass(frozen=True)
class Plan:
    """A command, as it is to be carried out.

    Attributes:
        statements: they bring the tables from any state of `before` to `after`. Only the last of several may be the one
            that reaches `after`. A vendor may have a state for each of them, from which it goes on.
        finishing: may be executed again and again, once the tables are as after it.
        emptied: tables whose rows are deleted before it, in the transaction of the rows that precede it.
    """

    statements: tuple[str, ...] = ()
    before: tuple[State, ...] = ()
    after: State | None = None
    finishing: tuple[str, ...] = ()
    emptied: tuple[TableName, ...] = ()

    @property
    def commits(self) -> bool:
        """Whether anything of it commits by itself."""
        return bool(self.statements or self.finishing)


@dataclass(frozen=True)
class Intent:
    """A command that was begun, or is done while the position is still in front of it.

    Attributes:
        done: how many commands at the same place come before it. Several may be moved to one place.
        before, after: see `Plan`; `after` is None once the command is known to be done.
    """

    ordinal: int
    key: int
    done: int
    before: tuple[State, ...] = ()
    after: State | None = None

    @property
    def place(self) -> PartWay:
        """Its place in the stream."""
        return PartWay(self.ordinal, self.key)

    @property
    def tables(self) -> list[str]:
        """The names of its tables."""
        return [str(name) for name in tables_of(self.after or {})]

    @property
    def finished(self) -> Intent:
        """The same, once it is done."""
        return Intent(self.ordinal, self.key, self.done + 1)

    def to_json(self) -> str:
        """A text that `from_json` reads."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Intent:
        """The intent that `to_json` wrote."""
        plain = json.loads(text)
        return cls(plain["ordinal"], plain["key"], plain["done"], tuple(plain["before"]), plain["after"])


# Steps in one transaction, up to the next command that is to be executed or to their end: which rows were not as
# expected, and that command.
Written = Callable[[Iterator[Step]], tuple[Tolerated, tuple[Plan, Intent] | None]]


class CommittedDdl(ABC):
    """The commands of one slave.

    Attributes:
        intent: the one that is written down, or is done since.
    """

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.intent: Intent | None = None
        self._met: Counter[PartWay] = Counter()

    @abstractmethod
    def planned(self, change: TableChange, existing: Existing) -> Plan | None:
        """How a command is to be carried out; None if there is nothing to do. Nothing is changed.

        Raises:
            SluiceError: it cannot be carried out.
        """

    def resumed(self, change: TableChange, existing: Existing, begun: Intent) -> Plan | None:
        """The same of a command that was begun, and is not done; its tables are as before one of its statements."""
        return self.planned(change, existing)

    @abstractmethod
    def finishing(self, change: TableChange) -> tuple[str, ...]:
        """See `Plan`."""

    @abstractmethod
    def state(self, tables: Sequence[TableName]) -> State:
        """How tables are in the catalog now."""

    @abstractmethod
    def execute(self, plan: Plan, intent: Intent, epoch: int) -> None:
        """Carry a command out; its intent is committed."""

    @abstractmethod
    def is_at(self, end: Position) -> None:
        """The transaction that moved the position there is committed."""

    def apply(self, steps: Iterable[Step], end: Position, epoch: int, written: Written) -> Tolerated:
        """A batch: its rows in transactions, and each command that commits by itself between two of them.

        Returns:
            Which rows were not as expected.
        """
        tolerated, coming = Tolerated(), iter(steps)
        self.begin_batch()
        while True:
            found, due = written(coming)
            tolerated += found
            if due is None:
                break
            crash_if_asked(CrashPoint.INTENDED)
            self.execute(*due, epoch)
            crash_if_asked(CrashPoint.EXECUTED)
        self.is_at(end)
        return tolerated

    def part_way(self) -> PartWay | None:
        """See `SlaveDatabase.part_way`."""
        return self.intent.place if self.intent else None

    def begin_batch(self) -> None:
        """Count the commands of the batch from its first one."""
        self._met.clear()

    def due(self, command: Command) -> tuple[Plan, Intent] | None:
        """What is to be done about a command that comes next, and the intent for it; None if the slave has it.

        Raises:
            SluiceError: SLC-565, it was begun, and its table is neither as before it nor as after it; SLC-068, it is
                not one that Sluice wrote; or what `planned` raises.
        """
        place = PartWay(command.ordinal, command.key)
        number = self._met[place]
        self._met[place] += 1
        begun = self.intent if self.intent and self.intent.place == place else None
        if begun and number < begun.done:
            return None
        try:
            change = command.table_change()
        except ValueError as error:
            raise not_ours(error) from None
        if begun is None or number != begun.done or begun.after is None:
            plan = self.planned(change, command.existing)
        elif self._is_done(begun):
            plan = Plan(before=(begun.after,), after=begun.after, finishing=self.finishing(change))
        else:
            plan = self.resumed(change, command.existing, begun)
        if plan is None or not (plan.commits or plan.emptied):
            return None
        return plan, Intent(place.ordinal, place.key, number, plan.before, plan.after)

    def _is_done(self, begun: Intent) -> bool:
        """Whether a command that was begun was executed; the catalog says it, and nothing else."""
        assert begun.after is not None
        now = self.state(tables_of(begun.after))
        if now == begun.after:
            return True
        if now in begun.before:
            return False
        raise self.neither(begun.before[0], begun.after, now)

    def neither(self, before: State, after: State, now: State) -> SluiceError:
        """Tables are not as any statement of a command that was begun would find or leave them."""
        tables = ", ".join(map(str, tables_of(after)))
        return SluiceError(
            565,
            f"a command of the master on {tables} was begun on slave {self.pair.slave}, and nobody "
            f"can tell whether it was carried out: there is {_shown(now)}; before it {_shown(before)}; after it "
            f"{_shown(after)}",
            "nothing more was written; alter the table there so that it is as after the command, or as before it, and "
            "unpause; or drop it and let initial_update bring it",
        )

    def done(self) -> None:
        """The command of the intent is executed."""
        if self.intent is not None and self.intent.after is not None:
            self.intent = self.intent.finished


def _shown(state: State) -> str:
    """Tables and the names and types of their columns."""
    return "; ".join(
        f"{TableName(*json.loads(key))} ("
        + ("is not there" if columns is None else ", ".join(f"{one[0]} {one[1]}" for one in columns))
        + ")"
        for key, columns in state.items()
    )
