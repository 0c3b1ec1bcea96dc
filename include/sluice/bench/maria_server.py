"""The private MariaDB of one bench: in a directory of the bench, on the loopback, with the server's own defaults."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sluice.bench.whole_database import failure
from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError
from sluice.runtime import ports
from sluice.runtime.terminal import Progress

_PORT = 26_300
# In the directory of the data, where the server and its client are: the whole path may be longer than a socket's.
_SOCKET = "socket"
_PATIENCE_S = 60.0
# What a server of some gigabytes has. A commit is on the disk, as a slave's has to be.
_SETTINGS = ("--innodb-buffer-pool-size=512M", "--innodb-log-file-size=256M", "--performance-schema=off")


class MariaServer:
    """A running server, whose root comes in by its socket alone."""

    def __init__(self, directory: Path, port: int) -> None:
        self.directory = directory
        self.port = port

    def client(self, statement: str) -> str:
        """The output of its own client, as root.

        Raises:
            SluiceError: SLC-947, it failed.
        """
        options = ["--no-defaults", f"--socket={_SOCKET}", "--user=root", "--local-infile=1", "--batch"]
        done = subprocess.run(
            [_program("mariadb"), *options, "--skip-column-names"],
            input=statement,
            capture_output=True,
            text=True,
            cwd=self.directory / "data",
        )
        if done.returncode:
            raise failure("mariadb", done.stderr.strip())
        return done.stdout

    def database(self, name: str) -> ConnectionInfo:
        """A database, and an account that owns it."""
        password = secrets.token_urlsafe(18)
        self.client(
            f"CREATE DATABASE {name}; CREATE USER {name}@'127.0.0.1' IDENTIFIED BY '{password}';"
            f"GRANT ALL PRIVILEGES ON {name}.* TO {name}@'127.0.0.1'"
        )
        return ConnectionInfo("mysql", "127.0.0.1", self.port, name, name, password)


@contextmanager
def private_mariadb(directory: Path, progress: Progress) -> Iterator[MariaServer]:
    """A server for the time of the block.

    Raises:
        SluiceError: SLC-947, it is not installed, or does not start.
    """
    server = MariaServer(directory / "mariadb", ports.choose("MariaDB", _PORT))
    data = server.directory / "data"
    server.directory.mkdir()
    common = ["--no-defaults", f"--datadir={data}", *_as_root()]
    with progress.step("starting a private MariaDB"):
        made = ["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"]
        subprocess.run([_program("mariadb-install-db"), *common, *made], check=True, capture_output=True)
        where = [f"--socket={_SOCKET}", f"--port={server.port}", "--bind-address=127.0.0.1"]
        log = (server.directory / "log").open("wb")
        process = subprocess.Popen(
            [_program("mariadbd"), *common, *where, "--skip-name-resolve", *_SETTINGS], stdout=log, stderr=log
        )
        try:
            _await(server, process)
        except BaseException:
            process.kill()
            raise
    try:
        yield server
    finally:
        process.terminate()
        process.wait(_PATIENCE_S)
        log.close()


def _await(server: MariaServer, process: subprocess.Popen[Any]) -> None:
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            server.client("SELECT 1")
            return
        except SluiceError:
            if process.poll() is not None or time.monotonic() > until:
                said = (server.directory / "log").read_text(errors="replace")[-2_000:]
                raise failure("mariadbd", said) from None
            time.sleep(0.1)


def _program(name: str) -> str:
    # Debian has servers outside of the path of users.
    program = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if program is None:
        raise failure(name, "nothing: it is not installed (apt-get install mariadb-server)")
    return program


def _as_root() -> list[str]:
    return ["--user=root"] if os.getuid() == 0 else []
