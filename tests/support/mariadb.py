"""A real MariaDB server of a test session, in a private directory, from the programs of Debian's packages."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pymysql
import pytest
from support.places import reserve_port, server_directory
from support.updating import UpdatingWorld

from sluice.capture.grants import slave_grants
from sluice.connections import SEALED_ENV, ConnectionInfo, seal
from sluice.state.replication import ReplicationEvent
from sluice.store import replications
from sluice.vendors.mariadb.server import MARIADB

# As a master's server has to be, too.
_LOGGED = ("--log-bin=binlog", "--server-id=7", "--binlog-format=ROW", "--binlog-row-metadata=FULL", "--sync-binlog=1")
# A statement of a test that waits for a lock which nobody gives back is an error; it would wait for a day or a year.
PATIENCE = ("--lock-wait-timeout=300",)
_PROGRAMS = ("mariadbd", "mariadb-install-db")
_numbers = count(1)
# For tests whose slaves are on each kind of server in turn.
SERVERS = pytest.mark.parametrize(
    "slave_server", ["maria_server", "mysql_server"], ids=["mariadb", "mysql"], indirect=True
)
# For tests of what does not depend on which of the two it is.
ONE_SERVER = pytest.mark.parametrize("slave_server", ["maria_server"], ids=["mariadb"], indirect=True)


class MariaServer:
    """The server: on the loopback and a socket of its own, whose root has no password and no other way in."""

    kind = MARIADB

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None
        self.port = reserve_port()

    def start(self, *settings: str) -> None:
        """Make its files if there are none, and start it."""
        data = self._directory / "data"
        # A server that begins deletes temporary tables of others in a directory that they share.
        own = self._directory / "tmp"
        own.mkdir(parents=True, exist_ok=True)
        common = ["--no-defaults", f"--datadir={data}", f"--tmpdir={own}"]
        common += ["--user=root"] if os.getuid() == 0 else []
        if not data.exists():
            self._make(common)
        log = self._directory / "log"
        begun = log.stat().st_size if log.exists() else 0
        where = [f"--socket={self._socket}", f"--port={self.port}", "--bind-address=127.0.0.1", "--skip-name-resolve"]
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [*self._program, *common, *where, *self._settings, *settings],
                stdout=output,
                stderr=output,
                preexec_fn=os.setpgrp,
            )
        until = time.monotonic() + 180
        while True:
            try:
                self.execute("SELECT 1")
                return
            except pymysql.err.OperationalError:
                assert self._process.poll() is None, log.read_text()[begun:][-2000:]
                assert time.monotonic() < until
                time.sleep(0.1)

    @property
    def _program(self) -> list[str]:
        return [self.program("mariadbd")]

    @property
    def _settings(self) -> list[str]:
        # Commits wait for the log, whose file need not be on a disk: a server that is killed keeps what it wrote.
        quick = ["--innodb-flush-method=nosync", "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=32M"]
        return [*quick, *_LOGGED, *PATIENCE, "--performance-schema=off"]

    def _make(self, common: list[str]) -> None:
        """Make its files."""
        install = ["mariadb-install-db", *common, "--auth-root-authentication-method=normal", "--skip-test-db"]
        subprocess.run([*install, "--skip-name-resolve"], check=True, capture_output=True)

    @staticmethod
    def program(name: str) -> str:
        """Where a program is; Debian has servers outside of the path of users."""
        found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
        assert found
        return found

    def stop(self, how: int = signal.SIGTERM) -> None:
        """End it."""
        if self._process:
            self._process.send_signal(how)
            self._process.wait(60)

    @property
    def _socket(self) -> Path:
        return self._directory / "socket"

    def session(self) -> pymysql.Connection[Any]:
        """An autocommit session of root."""
        return pymysql.connect(unix_socket=str(self._socket), user="root", autocommit=True, ssl_disabled=True)

    def execute(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """A statement of root's, and its rows."""
        session = self.session()
        try:
            with session.cursor() as cursor:
                cursor.execute(statement, values or None)
                return list(cursor.fetchall())
        finally:
            session.close()

    @contextmanager
    def most_allowed(self, bytes_: int) -> Iterator[None]:
        """No function of the server makes longer texts for sessions that begin now, and no client sends longer ones."""
        ((most,),) = self.execute("SELECT @@GLOBAL.max_allowed_packet")
        self.execute("SET GLOBAL max_allowed_packet = %s", bytes_)
        try:
            yield
        finally:
            self.execute("SET GLOBAL max_allowed_packet = %s", most)

    def run(self, script: str) -> None:
        """A script of an administrator, as its reader runs it."""
        client = [self.program("mariadb"), "--no-defaults", f"--socket={self._socket}", "--user=root"]
        done = subprocess.run(client, input=script, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def create_account(self, *, owner: bool = False) -> ConnectionInfo:
        """An account without rights, and a database of its name, which may be its own."""
        name = f"m{next(_numbers)}"
        password = f"secret-{name}"
        self.execute(f"CREATE USER {name}@'127.0.0.1' IDENTIFIED BY %s", password)
        if owner:
            self.execute(f"GRANT ALL PRIVILEGES ON {name}.* TO {name}@'127.0.0.1'")
        self.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        return ConnectionInfo("mysql", "127.0.0.1", self.port, name, name, password)


@pytest.fixture(scope="session")
def maria_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaServer]:
    """The server; where it is not installed tests are skipped, but not in CI."""
    path = f"{os.environ['PATH']}:/usr/sbin"
    if missing := [name for name in _PROGRAMS if not shutil.which(name, path=path)]:
        assert "CI" not in os.environ, f"{missing} are missing: apt-get install mariadb-server"
        pytest.skip("mariadb-server is not installed")
    with server_directory(tmp_path_factory.mktemp("mariadb")) as directory:
        made = MariaServer(directory)
        made.start()
        yield made
        made.stop()


@pytest.fixture
def slave_server(request: pytest.FixtureRequest) -> MariaServer:
    """MariaDB, or the server that a test names: it is given `mysql_server` by an indirect parameter."""
    found = request.getfixturevalue(getattr(request, "param", "maria_server"))
    assert isinstance(found, MariaServer)
    return found


@pytest.fixture
def maria(
    updating: Callable[..., UpdatingWorld], slave_server: MariaServer, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., UpdatingWorld]:
    """See `worlds`; on MariaDB unless a test names another server."""
    return worlds(updating, slave_server, monkeypatch)


def worlds(
    updating: Callable[..., UpdatingWorld], slave_server: MariaServer, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., UpdatingWorld]:
    """Makes worlds whose slaves are databases of a server; `before`: statements that are run in each of them first."""

    def made(ddl: str, tables: Any, *, before: str = "", update: bool = True, **more: Any) -> UpdatingWorld:
        world = updating(ddl, tables, renamed={}, **more)
        for name in world.slaves:
            world.infos[f"unused_{name}"] = world.infos[name]
            world.infos[name] = info = slave_server.create_account()
            if before:
                slave_server.execute(before.replace("{}", info.database))
        monkeypatch.setenv(SEALED_ENV, seal(world.infos))

        def configured(settings: dict[str, Any]) -> None:
            for name in world.slaves:
                database = world.infos[name].database
                settings["slaves"][name].update(vendor="mariadb", schema=database, schemas={"public": database})

        world.configure(configured)
        for name in world.slaves:
            slave_server.run(slave_grants(world.context, name, silent=False))
        if update:
            world.update()
            for slave in world.slaves:
                replications.record(world.context.store, world.pair(slave), ReplicationEvent.VERIFIED)
        return world

    return made
