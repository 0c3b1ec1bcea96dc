"""Which commands of the master a slave carries out: some are passed over, and in front of some it waits. None of its
steps takes rows that other masters have brought into the same table, unless somebody wants it so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc

from sluice import hints
from sluice.apply.net.effects import Run, Step
from sluice.arrow_rows import kept
from sluice.errors import SluiceError, TransientError
from sluice.log import event
from sluice.model.action import APPLIED, Action, Command, Existing, Policies, Policy
from sluice.model.ddl_question import DdlQuestion, lost_by
from sluice.model.layout import Layout
from sluice.model.names import Pair, TableName

Others = Callable[[TableName], Sequence[str]]


def nobody(table: TableName) -> Sequence[str]:
    """No other master brings anything into any table."""
    return ()


class UndecidedDdl(SluiceError):
    """A command of the master waits for somebody's decision; with policy `ask`, people are asked for it."""

    def __init__(self, pair: Pair, asking: DdlQuestion, policy: Policy, others: Sequence[str] = ()) -> None:
        also = f", and rows of others: {', '.join(others)}" if others else ""
        super().__init__(143, f"{asking}{also}. It waits for a decision", hints.of_question(pair, asking.key))
        self.asking = asking
        self.asked = policy is Policy.ASK


@dataclass(frozen=True)
class DdlPermission:
    """What a slave does about commands of the master.

    Attributes:
        decided: by their keys, commands that somebody decided: whether they are carried out.
        excludes: whether it gets nothing of a table of the master.
        others: says whose rows are in a table of the slave, too.
        doubts: says what of a command the slave does not make by itself.
    """

    policies: Policies = APPLIED
    decided: Mapping[int, bool] = field(default_factory=dict)
    excludes: Callable[[TableName], bool] = lambda _: False
    others: Others = nobody
    doubts: Callable[[Command], Sequence[str]] = lambda _: ()

    def of(self, command: Command, *, takes: bool = False) -> tuple[Policy, Sequence[str]]:
        """What it does about one of them, and what of it is not made by itself, if it waits for a decision.

        Args:
            takes: rows of others would be lost by it.
        """
        policy = self.policies.about(command.action)
        if takes and policy is Policy.APPLY:
            policy = Policy.STOP
        if policy is Policy.IGNORE:
            return policy, ()
        if command.key in self.decided:
            return Policy.APPLY if self.decided[command.key] else Policy.IGNORE, ()
        if policy is Policy.APPLY:
            doubts = self.doubts(command)
            return (Policy.ASK if doubts else policy), doubts
        try:
            return policy, self.doubts(command)
        except TransientError:
            raise
        except SluiceError:
            # What cannot be carried out, so that nothing can be told of it, can be rejected.
            return policy, ()

    def keeping(self, changes: pa.Table, layouts: Mapping[int, Layout]) -> tuple[pa.Table, dict[int, Layout]]:
        """Changes, with those of their layouts whose tables they do not empty of rows of others."""
        emptied = pc.unique(kept(changes, pc.equal(changes["action"], Action.TRUNCATE))["layout"]).to_pylist()
        taking = {number for number in emptied if self.others(layouts[number].name)}
        return changes, {number: one for number, one in layouts.items() if number not in taking}


ALL = DdlPermission()


def _entering(pair: Pair, before: TableName, after: TableName) -> SluiceError:
    return SluiceError(
        227,
        f"slave {pair.slave} does not get {before}, which is called {after} on the master from here on, and that it "
        "would get: it has none of its rows",
        f"trigger initial_update of {pair.slave} with `tables` {after}; or exclude that in the slave's `tables`, and "
        "unpause",
    )


def permitted(steps: Iterable[Step], pair: Pair, permission: DdlPermission) -> Iterator[Step]:
    """The steps without the commands that are passed over; the others know what to do about a table that is there.

    Raises:
        Undecided: SLC-143 in front of one that waits for a decision.
        SluiceError: SLC-227, a table that the slave does not get becomes another that it gets; SLC-231, see
            `expect_kept`.
    """
    for step in steps:
        if isinstance(step, Command):
            change = step.change
            about = (change and (change.before or change.after)) if step.layout is None else step.layout
            table = str(about.name) if about else "a table"
            others = permission.others(step.layout.name) if step.layout else ()
            step = replace(step, existing=Existing.STOP if others else permission.policies.existing)
            asking = DdlQuestion(step.ordinal, step.key, step.action, table, step.text)
            policy, doubts = permission.of(step, takes=bool(others and change and any(lost_by(change))))
            if policy is Policy.IGNORE:
                event("passed over", command=step.action.name, table=table)
                continue
            if policy is not Policy.APPLY:
                raise UndecidedDdl(pair, replace(asking, doubts=tuple(doubts)), policy, others)
            if change and change.before and change.after and permission.excludes(change.before.name):
                raise _entering(pair, change.before.name, change.after.name)
        else:
            expect_kept(step, permission.others)
        yield step


def expect_kept(run: Run, others: Others) -> None:
    """See that a run empties no table in which rows of others are, too.

    Raises:
        SluiceError: SLC-231, it would.
    """
    for effect in run:
        if effect.emptied and (found := others(effect.layout.name)):
            raise SluiceError(
                231,
                f"the master emptied a table (TRUNCATE) which is {effect.layout.name} here, and rows of others are in "
                f"that: {', '.join(found)}",
                "delete there by hand what came from this master, then let the slave go on without the transaction; "
                "a DELETE on the master takes its rows alone",
            )
