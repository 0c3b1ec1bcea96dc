"""The port to the Airflow that the pages are a part of. The plugin implements it; nothing here imports Airflow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fastapi import Request

from sluice.context import Context


@dataclass(frozen=True)
class Visitor:
    """Somebody who has logged in to Airflow.

    Attributes:
        roles: in Airflow.
        token: by which Airflow's REST API knows them.
        by_cookie: their browser sent it by itself, perhaps for another site.
    """

    user: str
    roles: Sequence[str]
    token: str
    by_cookie: bool


class Airflow(Protocol):
    """An Airflow, in its API server."""

    @property
    def secret(self) -> bytes:
        """Known to all workers of the API server alone."""

    async def visitor(self, request: Request) -> Visitor | None:
        """The person who asks; None without a login."""

    def context(self) -> Context:
        """The configuration in force, with its connections."""

    def paused_dags(self, dags: Sequence[str]) -> Mapping[str, str]:
        """The paused DAGs of these, each with the person who paused it (empty if unknown)."""
