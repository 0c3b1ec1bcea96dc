"""The server of the tests, for databases whose owners may less than a superuser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from psycopg import sql

from sluice.connections import ConnectionInfo


@pytest.fixture
def weak(server: Any) -> Any:
    """The same server, whose new databases belong to roles that may neither make event triggers nor silence any."""
    return weaker(server)


def weaker(server: Any) -> Any:
    """A server whose new databases belong to roles that are no superusers."""
    return SimpleNamespace(create_database=partial(server.create_database, superuser=False), connect=server.connect)


@pytest.fixture
def quiet(server: Any) -> Any:
    """The same server, whose new databases belong to roles that are no superusers and may silence triggers."""

    def create() -> ConnectionInfo:
        info: ConnectionInfo = server.create_database(superuser=False)
        with server.cluster.admin() as admin:
            grant = sql.SQL("GRANT SET ON PARAMETER session_replication_role TO {}")
            admin.execute(grant.format(sql.Identifier(info.login)))
        return info

    return SimpleNamespace(create_database=create, connect=server.connect)


@pytest.fixture
def stranger(server: Any) -> Iterator[Callable[[Any, str], Any]]:
    """Makes a session of a role without rights in a slave's database, but for a schema of its own."""
    made: list[tuple[Any, str]] = []

    def begin(world: Any, grant: str) -> Any:
        session = server.cluster.admin(world.infos["zurich"].database)
        session.autocommit = True
        role = f"eve_{world.infos['zurich'].database}"
        session.execute(f"CREATE ROLE {role}; CREATE SCHEMA own AUTHORIZATION {role}")
        session.execute("GRANT USAGE ON SCHEMA own TO PUBLIC")
        session.execute(grant.format(role, me=world.infos["zurich"].login))
        session.execute(f"SET SESSION AUTHORIZATION {role}")
        made.append((session, role))
        return session

    yield begin
    for session, role in made:
        session.execute("RESET SESSION AUTHORIZATION")
        session.execute(f"REASSIGN OWNED BY {role} TO CURRENT_USER; DROP OWNED BY {role} CASCADE; DROP ROLE {role}")
        session.close()
