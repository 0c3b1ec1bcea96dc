"""Whether the people who triggered a command's DAG, or answered its question, may have it carried out; refusals are in
the audit trail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sluice.context import Context
from sluice.errors import Refused, SluiceError
from sluice.model.requester import Requester
from sluice.store.replications import actor
from sluice.store.tables import audit


def asked_already(_dag: str) -> bool:
    """Airflow's auth manager was asked before the run began, and before the answer was taken."""
    return True


def expect_allowed(
    context: Context,
    requester: Requester,
    source: str,
    slaves: Sequence[str],
    what: str,
    *,
    may: Callable[[str], bool] = asked_already,
) -> None:
    """Check that a person has one of the roles that `command_roles` names, or that Airflow lets them trigger it.

    Args:
        what: the job.
        may: whether Airflow's auth manager lets the person trigger the DAG of this id.

    Raises:
        SluiceError: SLC-300, somebody without such a role or right triggered it; SLC-380, or answered its question. The
            audit trail says who wanted what.
    """
    wanted = context.config.command_roles
    if context.config.airflow_decides:
        dag = context.config.dag_id(what)
        if may(dag):
            return
        error = _refusal_by_airflow(requester, dag)
    elif not wanted or {role.lower() for role in requester.roles} & set(wanted):
        return
    else:
        error = _refusal(requester, what, wanted)
    values = {
        "source": source or "",
        "actor": requester.user,
        "event": "refused",
        "detail": f"{what}: {error.fact} ({actor()})",
    }
    with context.store.begin() as connection:
        connection.execute(audit.insert(), [{**values, "slave": slave} for slave in slaves or (None,)])
    raise error


def _refusal_by_airflow(requester: Requester, dag: str) -> SluiceError:
    return Refused(
        300,
        f"Airflow's auth manager does not let {requester.user} trigger {dag}",
        "nothing was changed; ask somebody who may trigger this DAG in Airflow, or give this person the right there",
    )


def _refusal(requester: Requester, what: str, wanted: Sequence[str]) -> SluiceError:
    roles = f"the role {', '.join(requester.roles)}" if requester.roles else "no role"
    needs = f"has {roles} in Airflow, and {what} needs one of these: {', '.join(wanted)}"
    or_else = "or let `command_roles` in the configuration name one that this person has"
    if requester.answered:
        return SluiceError(
            380,
            f"{requester.user}, who answered the question, {needs}",
            f"nothing was changed; to ask again, clear the task `{requester.answered}` of this run in Airflow, with "
            f"all downstream of it, and ask somebody with such a role to answer, {or_else}",
        )
    return Refused(
        300,
        f"{requester.user} {needs}",
        f"nothing was changed; ask somebody with such a role to trigger it, {or_else}",
    )
