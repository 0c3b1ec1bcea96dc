"""The port to the Airflow that the pages are a part of. The plugin implements it; nothing here imports Airflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fastapi import Request

from sluice.context import Context
from sluice.model.access import DagRight


@dataclass(frozen=True)
class Visitor:
    """Somebody who has logged in to Airflow.

    Attributes:
        roles: in Airflow; None if its auth manager gives its users none.
        token: by which Airflow's REST API knows them.
        by_cookie: their browser sent it by itself, perhaps for another site.
        may: asks Airflow's auth manager whether they have this right on the DAG of this id. Raises TransientError
            SLC-932 if it does not say so.
        id: tells people of one name apart.
    """

    user: str
    roles: Sequence[str] | None
    token: str
    by_cookie: bool
    may: Callable[[str, DagRight], bool] = lambda _dag, _right: False
    id: str = ""


class Airflow(Protocol):
    """An Airflow, in its API server."""

    @property
    def secret(self) -> bytes:
        """Known to all workers of the API server alone."""

    async def visitor(self, request: Request) -> Visitor | None:
        """The person who asks; None without a login. Raises TransientError SLC-932 if Airflow cannot tell."""

    def context(self) -> Context:
        """The configuration in force, with its connections."""

    def paused_dags(self, dags: Sequence[str]) -> Mapping[str, str]:
        """The paused DAGs of these, each with the person who paused it (empty if unknown)."""
