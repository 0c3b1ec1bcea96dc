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

# A database in which members of a role may use slots, as on Amazon. The server's own functions ask for the attribute,
# and ours have their names: they ask for the membership, and call the others as a superuser.
SLOTS_BY_ROLE = """
SET allow_system_table_mods = on;
UPDATE pg_proc SET proname = 'own_' || proname WHERE pronamespace = 'pg_catalog'::regnamespace AND proname IN (
    'pg_create_logical_replication_slot', 'pg_drop_replication_slot', 'pg_replication_slot_advance',
    'pg_logical_slot_peek_binary_changes');
CREATE FUNCTION pg_catalog.own_right() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_has_role(session_user, 'rds_replication', 'MEMBER') THEN
        RAISE insufficient_privilege USING MESSAGE = 'permission denied to use replication slots';
    END IF;
END $$;
CREATE FUNCTION pg_catalog.pg_create_logical_replication_slot(
    name, name, temporary boolean DEFAULT false, twophase boolean DEFAULT false, failover boolean DEFAULT false,
    OUT slot name, OUT lsn pg_lsn) LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM pg_catalog.own_right();
    IF $5 THEN
        SELECT * INTO $6, $7 FROM pg_catalog.own_pg_create_logical_replication_slot($1, $2, failover => true);
    ELSE
        SELECT * INTO $6, $7 FROM pg_catalog.own_pg_create_logical_replication_slot($1, $2);
    END IF;
END $$;
CREATE FUNCTION pg_catalog.pg_drop_replication_slot(name) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM pg_catalog.own_right(), pg_catalog.own_pg_drop_replication_slot($1);
END $$;
CREATE FUNCTION pg_catalog.pg_replication_slot_advance(name, pg_lsn)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM pg_catalog.own_right(), pg_catalog.own_pg_replication_slot_advance($1, $2);
END $$;
CREATE FUNCTION pg_catalog.pg_logical_slot_peek_binary_changes(name, pg_lsn, integer, VARIADIC text[])
RETURNS TABLE (lsn pg_lsn, xid xid, data bytea) LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM pg_catalog.own_right();
    RETURN QUERY SELECT * FROM pg_catalog.own_pg_logical_slot_peek_binary_changes($1, $2, $3, VARIADIC $4);
END $$;
RESET allow_system_table_mods
"""


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


@pytest.fixture(params=[pytest.param("oldest", marks=pytest.mark.full), "server"])
def managed(request):
    """The oldest and the newest server, managed: ``elsewhere={"master": managed}``."""
    return Managed(request.getfixturevalue(request.param))
