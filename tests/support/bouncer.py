"""PgBouncer, as Debian has it, in front of databases of the tests."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from support.places import reserve_port

from sluice import pooler
from sluice.connections import ConnectionInfo

PROGRAM = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
# It refuses to be root.
_USER = "nobody"


class Bouncer:
    """One pooler with the settings that it is installed with, but for those that are given.

    Args:
        to: the databases that it leads to; all are on one server.
    """

    def __init__(self, directory: Path, settings: Mapping[str, str], *to: ConnectionInfo) -> None:
        self.port = reserve_port()
        self._directory = directory
        self._settings = {"listen_addr": "127.0.0.1", "unix_socket_dir": "", "auth_type": "scram-sha-256", **settings}
        self._to = to
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it takes clients."""
        users, ini = self._directory / "userlist.txt", self._directory / "pgbouncer.ini"
        users.write_text("".join(f'"{info.login}" "{info.password}"\n' for info in self._to))
        settings = {**self._settings, "listen_port": self.port, "auth_file": users}
        lines = [f"* = host={self._to[0].host} port={self._to[0].port}", "[pgbouncer]"]
        lines += [f"{name} = {value}" for name, value in settings.items()]
        ini.write_text("\n".join(["[databases]", *lines, ""]))
        as_other = ["-u", _USER] if getpass.getuser() == "root" else []
        log = (self._directory / "log").open("wb")
        self._process = subprocess.Popen([PROGRAM, *as_other, str(ini)], stdout=log, stderr=log)
        end = time.monotonic() + 10
        while True:
            try:
                self.session().close()
                return
            except psycopg.OperationalError:
                assert time.monotonic() < end, (self._directory / "log").read_text()
                time.sleep(0.05)

    def session(self, info: ConnectionInfo | None = None) -> psycopg.Connection[tuple[object, ...]]:
        """A session of another client of the pool, which asks for nothing."""
        at = info or self._to[0]
        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            dbname=at.database,
            user=at.login,
            password=at.password,
            autocommit=True,
        )

    def before(self, info: ConnectionInfo) -> ConnectionInfo:
        """The connection to a database over it."""
        return replace(info, host="127.0.0.1", port=self.port)

    def settings_of_others(self, info: ConnectionInfo) -> dict[str, str]:
        """What other clients find set in a session of the pool, by `pg_settings`."""
        with closing(self.session(info)) as session:
            found = session.execute("SELECT name, setting FROM pg_settings WHERE source = 'session'").fetchall()
            found += session.execute("SELECT 'sluice.session', current_setting('sluice.session', true)").fetchall()
        # The pooler itself gives each client these.
        own = ("application_name", "client_encoding", "DateStyle", "TimeZone", "standard_conforming_strings")
        return {str(name): str(value) for name, value in found if name not in own and value}

    def stop(self) -> None:
        """End it and its sessions."""
        if self._process:
            self._process.terminate()
            self._process.wait(10)


@pytest.fixture
def bouncer() -> Iterator[Callable[..., Bouncer]]:
    """Starts poolers: their settings by name, and the databases."""
    if not os.access(PROGRAM, os.X_OK):
        pytest.skip(f"there is no {PROGRAM}: install the package pgbouncer")
    pooler.forget()
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        started: list[Bouncer] = []

        def start(*to: ConnectionInfo, **settings: str) -> Bouncer:
            path = Path(directory) / str(len(started))
            path.mkdir(mode=0o755)
            started.append(Bouncer(path, settings, *to))
            started[-1].start()
            return started[-1]

        yield start
        for each in started:
            each.stop()
    pooler.forget()
