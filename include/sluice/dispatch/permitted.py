"""Which commands of the master a slave carries out: some are passed over, and at some it stops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sluice.apply.net import Step
from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.action import Command, Policies, Policy


def permitted(steps: Iterable[Step], policies: Policies) -> Iterator[Step]:
    """The steps without the commands that are passed over; the others know what to do about a table that is there.

    Raises:
        SluiceError: SLC-143 in front of one that waits for a decision.
    """
    for step in steps:
        if isinstance(step, Command):
            policy = policies.about(step.action)
            table = step.layout.name if step.layout else "a table"
            if policy is Policy.IGNORE:
                event("passed over", command=step.action.name, table=table)
                continue
            if policy is Policy.STOP:
                key = f"{step.action.name.lower()}s"
                raise SluiceError(
                    143,
                    f"the master's {step.action.name} of {table} waits for a decision",
                    f"set `{key}: apply` for this replication to have it done on the slave, or `{key}: ignore` to "
                    "leave the slave's table as it is, and `stop` again when it is passed; nothing is lost",
                )
            step = replace(step, existing=policies.existing)
        yield step
