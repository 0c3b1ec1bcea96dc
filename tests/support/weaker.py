"""The server of the tests, for databases whose owners may less than a superuser."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from psycopg import sql

from sluice.connections import ConnectionInfo


@pytest.fixture
def weak(server: Any) -> Any:
    """The same server, whose new databases belong to roles that may neither make event triggers nor silence any."""
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
