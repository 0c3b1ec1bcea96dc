"""The roles of the pages, and what each may do (guide: table 3.1, `replication.monitor.user.*`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from sluice.model.names import INITIAL_UPDATE

# As the value of `command_roles`: no roles count, but the answers of Airflow's auth manager.
BY_AIRFLOW = "airflow"


class Right(StrEnum):
    """Something to be allowed: to look, to switch a dispatcher, to begin what reads every row, and all the rest."""

    READ = "read"
    SWITCH = "switch dispatchers"
    FILL = "begin initial updates"
    COMPARE = "begin comparisons"
    ADMINISTER = "administer"


class DagRight(StrEnum):
    """A right of a person on a DAG, by Airflow's auth manager."""

    READ = "read"
    EDIT = "edit"
    TRIGGER = "trigger"


class Role(StrEnum):
    """A role has the rights of those before it."""

    VIEWER = "viewer"
    USER = "user"
    INITIATOR = "initiator"
    ADMIN = "admin"

    @property
    def rights(self) -> frozenset[Right]:
        """Its rights."""
        return _RIGHTS[self]


_VIEWER = frozenset({Right.READ})
_USER = _VIEWER | {Right.SWITCH}
_INITIATOR = _USER | {Right.FILL, Right.COMPARE}
_RIGHTS = {Role.VIEWER: _VIEWER, Role.USER: _USER, Role.INITIATOR: _INITIATOR, Role.ADMIN: frozenset(Right)}
# The right on a DAG that leads to each role, where Airflow's auth manager gives its users none.
_DAG_RIGHTS = {
    Role.VIEWER: (INITIAL_UPDATE, DagRight.READ),
    Role.USER: (INITIAL_UPDATE, DagRight.EDIT),
    Role.INITIATOR: (INITIAL_UPDATE, DagRight.TRIGGER),
    Role.ADMIN: ("administer", DagRight.TRIGGER),
}


def role_of(
    user: str, theirs: Sequence[str], roles: Mapping[Role, Sequence[str]], users: Mapping[str, Role]
) -> Role | None:
    """The role of a person; None if they have no right.

    Args:
        theirs: their roles in Airflow.
        roles: Airflow's roles in lower case that lead to each of ours; the most powerful counts.
        users: people with a role of their own, whatever Airflow's are.
    """
    if user in users:
        return users[user]
    known = {role_name.lower() for role_name in theirs}
    return next((role for role in reversed(Role) if known & set(roles[role])), None)


def role_by_dags(may: Callable[[str, DagRight], bool]) -> Role | None:
    """The role of a person by what Airflow lets them do with our DAGs; None if they have no right.

    Args:
        may: whether they have this right on this DAG.
    """
    return next((role for role in reversed(Role) if may(*_DAG_RIGHTS[role])), None)
