"""Whether the person who triggered a command's DAG may have it carried out; refusals are in the audit trail."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.context import Context
from sluice.errors import SluiceError
from sluice.model.requester import Requester
from sluice.store.replications import actor
from sluice.store.tables import audit


def expect_allowed(context: Context, requester: Requester, source: str, slaves: Sequence[str], what: str) -> None:
    """See that whoever triggered this job has one of the roles that `command_roles` names.

    Args:
        what: the job.

    Raises:
        SluiceError: SLC-300, none of them; the audit trail says who wanted what.
    """
    wanted = context.config.command_roles
    if not wanted or {role.lower() for role in requester.roles} & set(wanted):
        return
    roles = f"the role {', '.join(requester.roles)}" if requester.roles else "no role"
    fact = f"{requester.user} has {roles} in Airflow, and {what} needs one of these: {', '.join(wanted)}"
    values = {
        "source": source or "",
        "actor": requester.user,
        "event": "refused",
        "detail": f"{what}: {fact} ({actor()})",
    }
    with context.store.begin() as connection:
        connection.execute(audit.insert(), [{**values, "slave": slave} for slave in slaves or (None,)])
    raise SluiceError(
        300,
        fact,
        "nothing was changed; ask somebody with such a role to trigger it, or let `command_roles` in the configuration "
        "name one that this person has",
    )
