"""Airflow's auth manager is slow: those about whom it is asked hold up nobody who has a role on the pages."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from threading import Event
from types import SimpleNamespace

import pytest

from sluice.errors import TransientError
from sluice.model.access import Role
from sluice.pages.airflow import Visitor
from sluice.pages.asked_roles import AskedRoles

CROWD = 200


class Manager:
    """Lets those trigger everything who are named so, and thinks for long about the others."""

    def __init__(self) -> None:
        self.config = SimpleNamespace(dag_id=lambda dag: dag)
        self.asked: Counter[str] = Counter()
        self.at_work = 0
        self.most = 0
        self.answers = Event()
        self.fails = False

    def visitor(self, name: str) -> Visitor:
        def may(dag: str, right: object) -> bool:
            self.asked[name] += 1
            if name.startswith("dba"):
                return True
            self.at_work += 1
            self.most = max(self.most, self.at_work)
            self.answers.wait()
            self.at_work -= 1
            if self.fails:
                raise TransientError(932, "it does not say so", "try again")
            return False

        return Visitor(name, None, "", by_cookie=True, may=may)


@pytest.fixture
def manager():
    made = Manager()
    yield made
    made.answers.set()


def crowd(roles: AskedRoles, manager: Manager, names: list[str]) -> list[asyncio.Task[Role | None]]:
    return [asyncio.create_task(roles.role(manager.config, manager.visitor(name))) for name in names]


def test_one_stranger_who_comes_often_is_asked_about_once(manager):
    async def story() -> None:
        roles = AskedRoles()
        waiting = crowd(roles, manager, ["eve"] * CROWD)
        assert await roles.role(manager.config, manager.visitor("dba")) is Role.ADMIN
        assert await roles.read(lambda: "read") == "read"
        assert not any(each.done() for each in waiting)
        # Who gives up takes the answer from nobody else.
        waiting.pop(0).cancel()
        manager.answers.set()
        assert set(await asyncio.gather(*waiting)) == {None}
        assert (manager.asked, manager.most) == ({"eve": len(Role), "dba": 1}, 1)
        assert [roles.had_role(manager.visitor(name)) for name in ("eve", "dba", "new")] == [False, True, False]

    asyncio.run(story())


def test_many_strangers_hold_up_nobody_who_had_a_role_and_known_ones_nobody_who_is_new(manager):
    async def story() -> None:
        roles = AskedRoles(kept_s=0)
        names = [f"eve{number}" for number in range(CROWD)]
        assert await roles.role(manager.config, manager.visitor("dba")) is Role.ADMIN
        new = crowd(roles, manager, names)
        async with asyncio.timeout(10):
            for _ in range(3):
                await asyncio.sleep(0.01)
                assert await roles.role(manager.config, manager.visitor("dba")) is Role.ADMIN
        manager.answers.set()
        await asyncio.gather(*new)
        await asyncio.sleep(0.01)
        assert (manager.asked["dba"], manager.most <= 2) == (4, True)
        manager.answers.clear()
        again = crowd(roles, manager, names)
        async with asyncio.timeout(10):
            assert await roles.role(manager.config, manager.visitor("dba of a new day")) is Role.ADMIN
        assert not any(each.done() for each in again)
        manager.answers.set()
        await asyncio.gather(*again)

    asyncio.run(story())


def test_an_answer_counts_for_a_while_and_a_failure_or_another_configuration_for_none(manager):
    async def story() -> None:
        roles = AskedRoles(kept_s=60)
        manager.answers.set()
        manager.fails = True
        for _ in range(2):
            with pytest.raises(TransientError, match="SLC-932"):
                await roles.role(manager.config, manager.visitor("eve"))
            await asyncio.sleep(0)
        manager.fails = False
        for _ in range(2):
            assert await roles.role(manager.config, manager.visitor("eve")) is None
        assert manager.asked["eve"] == 2 + len(Role)
        other = SimpleNamespace(dag_id=lambda dag: f"other_{dag}")
        assert await roles.role(other, manager.visitor("eve")) is None
        assert manager.asked["eve"] == 2 + 2 * len(Role)

    asyncio.run(story())


def test_two_people_of_one_name_have_an_answer_each(manager):
    async def story() -> None:
        roles = AskedRoles(kept_s=60)
        owner = replace(manager.visitor("sam"), id="1", may=lambda _dag, _right: True)
        namesake = replace(manager.visitor("sam"), id="2", may=lambda _dag, _right: False)
        assert [await roles.role(manager.config, who) for who in (owner, namesake)] == [Role.ADMIN, None]
        await asyncio.sleep(0)
        assert [roles.had_role(who) for who in (owner, namesake)] == [True, False]

    asyncio.run(story())
