"""An auth manager of Airflow whose users have names and rights on DAGs, and no roles; and what people may do by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import httpx
import pytest
import yaml
from airflow.api_fastapi import app as airflow_app
from airflow.api_fastapi.auth.managers.base_auth_manager import BaseAuthManager
from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from support.world import SOURCE


@dataclass
class Person(BaseUser):
    """Somebody, by name."""

    name: str

    def get_id(self) -> str:
        return self.name

    def get_name(self) -> str:
        return self.name


class RightsAlone(BaseAuthManager[Person]):
    """Each person has rights on DAGs, such as `initial_update GET`, or `administer POST RUN` to trigger it.

    Attributes:
        fails: it raises this in place of an answer.
        says: what it answers if the person has the right.
        thinks: it answers nothing about people without any right before this is set.
    """

    def __init__(self, people: Mapping[str, set[str]]) -> None:
        super().__init__()
        self.people = people
        self.fails: Exception | None = None
        self.says: Any = True
        self.thinks = Event()
        self.thinks.set()

    def deserialize_user(self, token: dict[str, Any]) -> Person:
        return Person(token["by_rights_alone"])

    def serialize_user(self, user: Person) -> dict[str, Any]:
        return {"sub": user.name, "by_rights_alone": user.name}

    def get_url_login(self, **_: Any) -> str:
        return "/auth/login"

    def is_authorized_dag(self, *, method: Any, user: Person, access_entity: Any = None, details: Any = None) -> Any:
        if self.fails:
            raise self.fails
        if not self.people[user.name]:
            self.thinks.wait()
        entity = DagAccessEntity(access_entity).value if access_entity else ""
        return self.says if f"{details.id} {method} {entity}".strip() in self.people[user.name] else False

    def _nothing(self, **_: Any) -> bool:
        return False

    is_authorized_asset = is_authorized_asset_alias = is_authorized_backfill = _nothing
    is_authorized_configuration = is_authorized_connection = is_authorized_pool = _nothing
    is_authorized_custom_view = is_authorized_variable = is_authorized_view = _nothing

    def filter_authorized_menu_items(self, menu_items: list[Any], *, user: Person) -> list[Any]:
        return menu_items


@contextmanager
def rights_alone(people: Mapping[str, set[str]]) -> Iterator[tuple[RightsAlone, dict[str, str]]]:
    """Have this process's Airflow such an auth manager, with everybody's token."""
    with pytest.MonkeyPatch.context() as patch:
        manager = RightsAlone(people)
        patch.setattr(airflow_app._AuthManagerState, "instance", manager)
        yield manager, {name: manager.generate_jwt(Person(name)) for name in people}


@dataclass
class Cancelling:
    """Who may end an initial update of a slave for which none is under way, by us and by Airflow itself."""

    ours: dict[str, tuple[int, int]] = field(default_factory=dict)
    airflows: dict[str, int] = field(default_factory=dict)


def let_airflow_decide(world: Any, **pages: str) -> None:
    """Write a configuration with `command_roles: airflow`, and with these people's roles on our pages."""
    world.settings |= {"command_roles": "airflow", "pages": {"users": pages}}
    file, whole = world.path / "replication.yaml", world.path / "replication.new"
    whole.write_text(yaml.safe_dump(world.settings))
    # An API server that reads the file at this moment finds all of it.
    whole.replace(file)


def try_to_cancel(address: int, tokens: Mapping[str, str]) -> Cancelling:
    """Have each of these people try it."""
    done = Cancelling()
    for who, token in tokens.items():
        client = httpx.Client(
            base_url=f"http://127.0.0.1:{address}", timeout=120, headers={"Authorization": f"Bearer {token}"}
        )
        answer = client.post(f"/sluice/api/v1/replications/{SOURCE}/zurich/cancel-update")
        done.ours[who] = (answer.status_code, answer.json()["code"])
        begun = {"logical_date": None, "conf": {"source": SOURCE, "slaves": ["zurich"]}}
        done.airflows[who] = client.post("/api/v2/dags/cancel_update/dagRuns", json=begun).status_code
    return done


def expected(*, allowed: str, refused: str) -> Cancelling:
    """What becomes of it if Airflow lets these people trigger the DAG, and those not."""
    return Cancelling(
        dict.fromkeys(allowed.split(), (409, 172)) | dict.fromkeys(refused.split(), (403, 300)),
        dict.fromkeys(allowed.split(), 200) | dict.fromkeys(refused.split(), 403),
    )
