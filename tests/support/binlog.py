"""Worlds whose master is a database of MariaDB or MySQL, captured by its binary log."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import pytest
from support.mariadb import MariaServer
from support.updating import UpdatingWorld
from support.world import SOURCE, World

from sluice.capture.grants import grants, slave_grants
from sluice.connections import SEALED_ENV, ConnectionInfo, seal
from sluice.publish.run import publish
from sluice.store import blocked
from sluice.vendors.mariadb.server import MYSQL

# For tests whose master is on each kind of server in turn.
MASTERS = pytest.mark.parametrize(
    "master_server", ["maria_server", "mysql_server"], ids=["mariadb", "mysql"], indirect=True
)
_SETTINGS = {"vendor": "mariadb", "capture": "binlog"}
# A table of numbers of MariaDB.
_NUMBERED = re.compile(r"\bseq_1_to_(\d+)")


def _numbers(found: re.Match[str]) -> str:
    counted = f"SELECT 1 UNION ALL SELECT seq + 1 FROM counted WHERE seq < {found[1]}"
    return f"(WITH RECURSIVE counted (seq) AS ({counted}) SELECT seq FROM counted) AS numbered"


class BinlogMaster:
    """The database of a master."""

    def __init__(self, server: MariaServer, info: ConnectionInfo) -> None:
        self.server = server
        self.info = info

    @property
    def name(self) -> str:
        """Its name, which is the schema of its tables."""
        return self.info.database

    def execute(self, *statements: str, mode: str = "STRICT_TRANS_TABLES") -> list[tuple[Any, ...]]:
        """Statements of a client, each committed by itself if it begins no transaction; rows of the last."""
        with closing(self.server.session()) as session, session.cursor() as cursor:
            cursor.execute(f"USE {self.name}")
            cursor.execute("SET sql_mode = %s, time_zone = '+00:00'", [mode])
            for one in statements:
                cursor.execute(_NUMBERED.sub(_numbers, one) if self.server.kind is MYSQL else one)
            return list(cursor.fetchall())


def left_out(world: World, slave: str = "zurich") -> dict[str, str]:
    """The tables that are left out for a slave, each with the reason."""
    found = blocked.skipped_tables(world.context.store, world.pair(slave))
    return {name.table: one.actor for name, one in found.items()}


@pytest.fixture
def master_server(request: pytest.FixtureRequest) -> MariaServer:
    """MariaDB, or the server that a test names: it is given `mysql_server` by an indirect parameter."""
    found = request.getfixturevalue(getattr(request, "param", "maria_server"))
    assert isinstance(found, MariaServer)
    return found


@pytest.fixture
def binlog(
    updating: Callable[..., UpdatingWorld], master_server: MariaServer, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[UpdatingWorld, BinlogMaster]]:
    """Makes worlds: ``binlog("CREATE TABLE t ...", ["t"])``; slaves are empty databases of PostgreSQL, or `into`."""

    def made(
        ddl: str,
        tables: Sequence[str],
        *,
        into: str = "postgresql",
        update: bool = True,
        **more: Any,
    ) -> tuple[UpdatingWorld, BinlogMaster]:
        world = updating("CREATE TABLE unused (id int PRIMARY KEY)", ["public.unused"], renamed={}, **more)
        info = master_server.create_account()
        world.infos["unused"], world.infos["master"] = world.infos["master"], info
        master = BinlogMaster(master_server, info)
        master.execute(*filter(str.strip, ddl.split(";\n")))

        def configured(settings: dict[str, Any]) -> None:
            watched = {f"{master.name}.{table}": {} for table in tables}
            settings["sources"][SOURCE].update(_SETTINGS, schema=master.name, tables=watched)
            for name in world.slaves:
                settings["slaves"][name]["schemas"] = {master.name: "public"}
                if into == "mariadb":
                    world.infos[f"unused_{name}"] = world.infos[name]
                    world.infos[name] = slave = master_server.create_account()
                    settings["slaves"][name].update(
                        vendor="mariadb", schema=slave.database, schemas={master.name: slave.database}
                    )

        world.configure(configured)
        monkeypatch.setenv(SEALED_ENV, seal(world.infos))
        master_server.run(grants(world.context, SOURCE))
        for name in world.slaves if into == "mariadb" else ():
            master_server.run(slave_grants(world.context, name, silent=False))
        publish(world.context, SOURCE, once=True)
        if update:
            world.update()
            world.end_update()
        return world, master

    return made
