"""The roles of people whom Airflow's auth manager decides about, which may be slow and answers several questions each.

It is asked before a person has a place on the pages, so few are asked about at once. People who had a role at the last
answer do not wait for strangers, nor for people who are new.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from sluice.config.configuration import Config
from sluice.model.access import Role, role_by_dags
from sluice.pages.airflow import Visitor

# An answer counts for so long, for everything that a person asks of the pages meanwhile.
KEPT_S = 10.0
# The number of threads for people who had a role, who had none, and who are new.
_THREADS = {True: 4, False: 1, None: 2}
_Read = TypeVar("_Read")
# The name of a person, and their id: two may have one name.
_Who = tuple[str, str]


@dataclass(frozen=True)
class _Answer:
    config: Config
    role: asyncio.Task[Role | None]


class AskedRoles:
    """The answers about people. Several requests of a person share one. All are of one event loop."""

    def __init__(self, kept_s: float = KEPT_S) -> None:
        self._kept_s = kept_s
        self._answers: dict[_Who, _Answer] = {}
        self._had_role: dict[_Who, bool] = {}
        self._threads = {had_role: CapacityLimiter(most) for had_role, most in _THREADS.items()}
        self._reading = CapacityLimiter(_THREADS[True])

    async def read(self, reading: Callable[[], _Read]) -> _Read:
        """Read something, such as the configuration, in a thread that none of these questions holds."""
        return await run_sync(reading, limiter=self._reading)

    async def role(self, config: Config, who: Visitor) -> Role | None:
        """The role of a person; None if they have none. Raises TransientError SLC-932, Airflow does not say so."""
        asked = _key(who)
        answer = self._answers.get(asked)
        if answer is None or answer.config is not config:
            answer = _Answer(config, asyncio.create_task(self._ask(config, who)))
            self._answers[asked] = answer
            answer.role.add_done_callback(lambda _: self._keep(asked, answer))
        # A request that is given up does not cancel the answer, for which others wait.
        return await asyncio.shield(answer.role)

    def had_role(self, who: Visitor) -> bool:
        """Whether a person had a role at the last answer."""
        return self._had_role.get(_key(who), False)

    async def _ask(self, config: Config, who: Visitor) -> Role | None:
        threads = self._threads[self._had_role.get(_key(who))]
        return await run_sync(role_by_dags, lambda dag, right: who.may(config.dag_id(dag), right), limiter=threads)

    def _keep(self, asked: _Who, answer: _Answer) -> None:
        """Keep an answer for a while; a failure is none."""

        def forget() -> None:
            if self._answers.get(asked) is answer:
                del self._answers[asked]

        if answer.role.cancelled() or answer.role.exception():
            forget()
            return
        self._had_role[asked] = answer.role.result() is not None
        asyncio.get_running_loop().call_later(self._kept_s, forget)


def _key(who: Visitor) -> _Who:
    return who.user, who.id
