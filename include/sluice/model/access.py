"""The roles of the pages, and what each may do (guide: table 3.1, `replication.monitor.user.*`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum


class Right(StrEnum):
    """Something to be allowed: to look, to switch a dispatcher, to begin what reads every row, and all the rest."""

    READ = "read"
    SWITCH = "switch dispatchers"
    FILL = "begin initial updates"
    COMPARE = "begin comparisons"
    ADMINISTER = "administer"


class Role(StrEnum):
    """A role has the rights of those before it."""

    USER = "user"
    INITIATOR = "initiator"
    ADMIN = "admin"

    @property
    def rights(self) -> frozenset[Right]:
        """Its rights."""
        return _RIGHTS[self]


_USER = frozenset({Right.READ, Right.SWITCH})
_INITIATOR = _USER | {Right.FILL, Right.COMPARE}
_RIGHTS = {Role.USER: _USER, Role.INITIATOR: _INITIATOR, Role.ADMIN: frozenset(Right)}


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
