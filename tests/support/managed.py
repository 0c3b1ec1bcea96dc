"""Servers as clouds run them: their users are no superusers, their administrators make roles and own all tables."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql
from support.older import OLDEST, Installed

from sluice.connections import ConnectionInfo


class Oldest(Installed):
    """The oldest version that is supported, as the machine's package has it."""

    @property
    def bin(self) -> Path:
        """Where Debian puts it."""
        return OLDEST


class Managed:
    """A server whose new databases belong to administrators like those of clouds."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.cluster = server.cluster
        self.connect = server.connect

    def create_database(self) -> ConnectionInfo:
        """A database of an administrator of its own."""
        info: ConnectionInfo = self.server.create_database(superuser=False)
        with self.cluster.admin() as admin:
            admin.execute(sql.SQL("ALTER ROLE {} CREATEROLE CREATEDB").format(sql.Identifier(info.login)))
        return info

    def run(self, info: ConnectionInfo, script: str) -> str:
        """Run a script as its reader does; what psql says."""
        command = [self.cluster.bin / "psql", "--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1"]
        command += [f"--host={info.host}", f"--port={info.port}", f"--username={info.login}", info.database]
        env = {**os.environ, "PGPASSWORD": info.password, "PGCLIENTENCODING": "UTF8"}
        done = subprocess.run(
            command, input=f"{script};\n", env=env, capture_output=True, text=True, check=False, encoding="utf-8"
        )
        return done.stderr


@pytest.fixture(scope="module")
def oldest(server, tmp_path_factory):
    """The oldest supported server."""
    if not OLDEST.exists():
        pytest.skip(f"there is no {OLDEST}: install the package postgresql-15")
    made = type(server)(Oldest(tmp_path_factory.mktemp("oldest")))
    made.start()
    yield made
    made.cluster.remove()


@pytest.fixture(params=["oldest", "server"])
def managed(request):
    """The oldest and the newest server, managed: ``elsewhere={"master": managed}``."""
    return Managed(request.getfixturevalue(request.param))
