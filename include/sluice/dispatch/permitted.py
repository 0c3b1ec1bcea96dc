"""Which commands of the master a slave carries out: some are passed over, and in front of some it waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sluice.apply.net import Step
from sluice.control import remedies
from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.action import APPLIED, Command, Policies, Policy
from sluice.model.asking import Asking
from sluice.model.names import Pair


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
    """

    policies: Policies = APPLIED
    decided: Mapping[int, bool] = field(default_factory=dict)

    def of(self, command: Command) -> Policy:
        """What it does about one of them."""
        policy = self.policies.about(command.action)
        if policy in (Policy.STOP, Policy.ASK) and command.key in self.decided:
            return Policy.APPLY if self.decided[command.key] else Policy.IGNORE
        return policy


ALL = Permission()


def permitted(steps: Iterable[Step], pair: Pair, permission: Permission) -> Iterator[Step]:
    """The steps without the commands that are passed over; the others know what to do about a table that is there.

    Raises:
        Undecided: SLC-143 in front of one that waits for a decision.
    """
    for step in steps:
        if isinstance(step, Command):
            policy = permission.of(step)
            table = str(step.layout.name) if step.layout else "a table"
            if policy is Policy.IGNORE:
                event("passed over", command=step.action.name, table=table)
                continue
            if policy is not Policy.APPLY:
                raise Undecided(pair, Asking(step.ordinal, step.key, step.action, table, step.text), policy)
            step = replace(step, existing=permission.policies.existing)
        yield step
