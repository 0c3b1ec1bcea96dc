"""Which commands of the master a slave carries out: some are passed over, and in front of some it waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sluice.apply.net import Step
from sluice.control import remedies
from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.action import APPLIED, Action, Command, Policies, Policy
from sluice.model.asking import Asking
from sluice.model.ddl import TableChange
from sluice.model.names import Pair, TableName


class Undecided(SluiceError):
    """A command of the master waits for somebody's decision; with policy `ask`, people are asked for it."""

    def __init__(self, pair: Pair, asking: Asking, policy: Policy) -> None:
        super().__init__(143, f"{asking}. It waits for a decision", remedies.of_question(pair, asking.key))
        self.asking = asking
        self.asked = policy is Policy.ASK


@dataclass(frozen=True)
class Permission:
    """What a slave does about commands of the master.

    Attributes:
        decided: by their keys, commands that somebody decided: whether they are carried out.
        excludes: whether it gets nothing of a table of the master.
    """

    policies: Policies = APPLIED
    decided: Mapping[int, bool] = field(default_factory=dict)
    excludes: Callable[[TableName], bool] = lambda _: False

    def of(self, command: Command) -> Policy:
        """What it does about one of them."""
        policy = self.policies.about(command.action)
        if policy in (Policy.STOP, Policy.ASK) and command.key in self.decided:
            return Policy.APPLY if self.decided[command.key] else Policy.IGNORE
        return policy


ALL = Permission()


def _change(command: Command) -> TableChange | None:
    try:
        return None if command.action is Action.STATEMENT else TableChange.from_json(command.text)
    except ValueError:
        # Whoever is to carry it out says so.
        return None


def _entering(pair: Pair, before: TableName, after: TableName) -> SluiceError:
    return SluiceError(
        227,
        f"slave {pair.slave} does not get {before}, which is called {after} on the master from here on, and that it "
        "would get: it has none of its rows",
        f"trigger initial_update of {pair.slave} with `tables` {after}; or exclude that in the slave's `tables`, and "
        "unpause",
    )


def permitted(steps: Iterable[Step], pair: Pair, permission: Permission) -> Iterator[Step]:
    """The steps without the commands that are passed over; the others know what to do about a table that is there.

    Raises:
        Undecided: SLC-143 in front of one that waits for a decision.
        SluiceError: SLC-227, a table that the slave does not get becomes another that it gets.
    """
    for step in steps:
        if isinstance(step, Command):
            policy = permission.of(step)
            change = _change(step)
            about = (change and (change.before or change.after)) if step.layout is None else step.layout
            table = str(about.name) if about else "a table"
            if policy is Policy.IGNORE:
                event("passed over", command=step.action.name, table=table)
                continue
            if policy is not Policy.APPLY:
                raise Undecided(pair, Asking(step.ordinal, step.key, step.action, table, step.text), policy)
            if change and change.before and change.after and permission.excludes(change.before.name):
                raise _entering(pair, change.before.name, change.after.name)
            step = replace(step, existing=permission.policies.existing)
        yield step
