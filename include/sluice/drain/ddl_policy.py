"""Applies a slave's policies for commands: some are skipped, and some wait for a decision. No step removes rows of
other masters in the same table, unless that was approved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc

from sluice import hints
from sluice.apply.net.effects import Run, Step
from sluice.arrow_rows import filter_rows
from sluice.errors import SluiceError, TransientError
from sluice.log import event
from sluice.model.action import APPLIED, Action, Command, Existing, Policies, Policy
from sluice.model.ddl_question import DdlQuestion, lost_by
from sluice.model.layout import Layout
from sluice.model.names import Pair, TableName

Others = Callable[[TableName], Sequence[str]]


def no_others(table: TableName) -> Sequence[str]:
    """The default: no other replication has rows in any table."""
    return ()


class UndecidedDdl(SluiceError):
    """A command of the master waits for a decision; with the policy `ask` a question is put in Airflow."""

    def __init__(self, pair: Pair, asking: DdlQuestion, policy: Policy, others: Sequence[str] = ()) -> None:
        also = f", and rows of others: {', '.join(others)}" if others else ""
        super().__init__(143, f"{asking}{also}. It waits for a decision", hints.for_question(pair, asking.key))
        self.asking = asking
        self.asked = policy is Policy.ASK


@dataclass(frozen=True)
class DdlPermission:
    """The policies of a slave for commands of the master, with the decisions so far.

    Attributes:
        decided: decisions by REPL_KEY of the command: whether it is applied.
        excludes: whether a table of the master is excluded.
        others: the other replications with rows in a table of the slave.
        doubts: the definitions of a command that the slave does not create without a decision.
    """

    policies: Policies = APPLIED
    decided: Mapping[int, bool] = field(default_factory=dict)
    excludes: Callable[[TableName], bool] = lambda _: False
    others: Others = no_others
    doubts: Callable[[Command], Sequence[str]] = lambda _: ()

    def policy_for(self, command: Command, *, takes: bool = False) -> tuple[Policy, Sequence[str]]:
        """The policy for one command, and its doubts if it waits for a decision.

        Args:
            takes: rows of others would be lost.
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
            # A command that cannot be applied, and so has no doubts to show, can still be rejected.
            return policy, ()

    def spare_others(self, changes: pa.Table, layouts: Mapping[int, Layout]) -> tuple[pa.Table, dict[int, Layout]]:
        """The changes, and the layouts without tables that a TRUNCATE would empty of rows of others."""
        emptied = pc.unique(filter_rows(changes, pc.equal(changes["action"], Action.TRUNCATE))["layout"]).to_pylist()
        taking = {number for number in emptied if self.others(layouts[number].name)}
        return changes, {number: layout for number, layout in layouts.items() if number not in taking}


ALL = DdlPermission()


def _entry_error(pair: Pair, before: TableName, after: TableName) -> SluiceError:
    return SluiceError(
        145,
        f"slave {pair.slave} does not get {before}, which is called {after} on the master from here on, and that it "
        "would get: it has none of its rows",
        f"trigger initial_update of {pair.slave} with `tables` {after}; or exclude that in the slave's `tables`, and "
        "unpause",
    )


def apply_policies(steps: Iterable[Step], pair: Pair, permission: DdlPermission) -> Iterator[Step]:
    """The steps without skipped commands; CREATE commands get the action for existing tables.

    Raises:
        UndecidedDdl: SLC-143 before a command that waits for a decision.
        SluiceError: SLC-145, a table that the slave does not get becomes another that it gets; SLC-231, see
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
            policy, doubts = permission.policy_for(step, takes=bool(others and change and any(lost_by(change))))
            if policy is Policy.IGNORE:
                event("passed over", command=step.action.name, table=table)
                continue
            if policy is not Policy.APPLY:
                raise UndecidedDdl(pair, replace(asking, doubts=tuple(doubts)), policy, others)
            if change and change.before and change.after and permission.excludes(change.before.name):
                raise _entry_error(pair, change.before.name, change.after.name)
        else:
            expect_kept(step, permission.others)
        yield step


def expect_kept(run: Run, others: Others) -> None:
    """Check that a run empties no table with rows of other masters.

    Raises:
        SluiceError: SLC-231, it would.
    """
    for effect in run:
        if effect.is_emptied and (owners := others(effect.layout.name)):
            raise SluiceError(
                231,
                f"the master emptied a table (TRUNCATE) which is {effect.layout.name} here, and rows of others are in "
                f"that: {', '.join(owners)}",
                "delete there by hand what came from this master, then let the slave go on without the transaction; "
                "a DELETE on the master takes its rows alone",
            )
