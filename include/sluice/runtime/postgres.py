"""The embedded PostgreSQL: one server on a directory of ours, started from packaged binaries.

Over its socket the operating system vouches for the owner, so nothing needs a password there; over the loopback every
role has one. What runs is read from the data directory itself, so a lost record loses no server.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

import psutil
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from sluice import libpq
from sluice.errors import SluiceError
from sluice.runtime import ports, postgres_dirs, processes
from sluice.runtime.processes import Service
from sluice.storage import private_files
from sluice.storage.private_directory import PrivateTree
from sluice.vendors.postgresql.session import composed

PREFERRED_PORT = 54320
SUPERUSER = "postgres"
READY_S = 120
_STOP_S = 60
_SETTINGS = """
listen_addresses = '127.0.0.1'
max_connections = 100
max_prepared_transactions = 10
shared_buffers = 256MB
max_wal_size = 2GB
checkpoint_timeout = 15min
timezone = 'UTC'
log_timezone = 'UTC'
jit = off
"""


class Cluster:
    """One PostgreSQL server with its data. `start` makes it if it is not there yet, and may be called when it runs.

    Args:
        directory: where it keeps everything; made if it is missing. For root, if that is closed to the user that the
            server runs as, the files are in a directory of their own elsewhere, and `directory` holds a link.
        log: its log file.
        taken: ports to leave alone.
    """

    locale: ClassVar = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]

    def __init__(self, directory: Path, log: Path | None = None, taken: frozenset[int] = frozenset()) -> None:
        private_files.make(directory)
        self._owner = postgres_dirs.server_user()
        self._directories = postgres_dirs.ServerDirectories.for_user(directory, self._owner)
        self._data = self._directories.base / "data"
        self._log = log or directory / "postgres.log"
        self._taken = taken

    @property
    def bin(self) -> Path:
        """The directory of psql, pgbench and the others."""
        return self._directories.binaries

    @property
    def sockets(self) -> Path:
        """The directory of the unix socket."""
        return self._directories.sockets

    @property
    def port(self) -> int:
        """The port of the running server."""
        return int(self._pid_file()[3])

    def service(self) -> Service | None:
        """The running server, or None. Its working directory tells it from a process that got its number later."""
        with contextlib.suppress(OSError, IndexError, ValueError, psutil.Error):
            pid = int(self._pid_file()[0])
            if Path(psutil.Process(pid).cwd()).resolve() == self._data.resolve():
                return Service("postgres", pid, processes.began(pid), str(self._log))
        return None

    def start(self, settings: str = "", port: int = PREFERRED_PORT) -> bool:
        """Make the data directory if needed, start the server, wait until it answers.

        Args:
            settings: lines for postgresql.conf, over the defaults.
            port: the one to try first.

        Returns:
            Whether it had to be started.

        Raises:
            SluiceError: SLC-659, the data directory cannot be made; SLC-931, the server does not start.
        """
        if self._directories.is_leftover:
            self.remove()
            private_files.make(self._directories.directory)
        if running := self.service():
            running.wait_until(self._answers, READY_S)
            return False
        self._directories.make()
        if not (self._data / "PG_VERSION").exists():
            self._initdb()
        port = ports.choose("PostgreSQL", port, self._taken)
        sockets = str(self.sockets).replace('"', '""').replace("'", "''")
        where = f"port = {port}\nunix_socket_directories = '\"{sockets}\"'\n"
        self._write("sluice.conf", f"{_SETTINGS}{settings}\n{where}")
        service = processes.start(
            "postgres",
            [self.bin / "postgres", "-D", self._data],
            home=self._data,
            env={"PATH": os.defpath, "TZ": "UTC", "LC_ALL": "C"},
            log=self._log,
            cwd=self._data,
            user=self._owner,
        )
        service.wait_until(self._answers, READY_S)
        return True

    def stop(self) -> None:
        """End all sessions and stop the server; its data stays."""
        if (service := self.service()) and (leader := service.process()):
            processes.end([leader], signal.SIGINT, _STOP_S)

    def remove(self) -> None:
        """Stop the server and delete its data."""
        self.stop()
        self._directories.remove()

    def admin(self, database: str = "postgres") -> psycopg.Connection[tuple[Any, ...]]:
        """An autocommit session of the superuser, over the socket."""
        return libpq.connect(self.admin_dsn(database), connect_timeout=10)

    def admin_dsn(self, database: str = "postgres", user: str = SUPERUSER) -> str:
        """A libpq connection string over the socket: it needs no password, and works for our own user only."""
        return make_conninfo(host=str(self.sockets), port=self.port, dbname=database, user=user)

    def sqlalchemy_url(self, database: str) -> str:
        """The SQLAlchemy address of a database over the socket, as the role of that name; without a password."""
        return f"postgresql+psycopg://{database}@/{database}?host={quote(str(self.sockets))}&port={self.port}"

    def create_database(self, name: str, role: str, password: str, *, superuser: bool = False) -> None:
        """Make a database and its owner if they are missing, and give the owner this password."""
        with self.admin() as session:
            if not session.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).fetchall():
                session.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
            # A statement can end up in the server's log with its text; a verifier is of no use to who reads that.
            verifier = session.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
            right = sql.SQL("SUPERUSER" if superuser else "NOSUPERUSER")
            alter = sql.SQL("ALTER ROLE {} {} PASSWORD {}")
            session.execute(alter.format(sql.Identifier(role), right, verifier.decode()))
            if not session.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
                create = sql.SQL("CREATE DATABASE {} OWNER {}")
                session.execute(create.format(sql.Identifier(name), sql.Identifier(role)))
                revoke = sql.SQL("REVOKE CONNECT ON DATABASE {} FROM PUBLIC")
                session.execute(revoke.format(sql.Identifier(name)))

    def let_be_silent(self, role: str) -> None:
        """Let a role keep triggers and foreign keys from acting on what it writes."""
        with self.admin() as session:
            session.execute(composed("capture/grants/silent", role=role))

    def _answers(self) -> bool:
        try:
            self.admin().close()
        except (psycopg.OperationalError, OSError, IndexError, ValueError):
            return False
        return True

    def _pid_file(self) -> list[str]:
        """Process number, data directory, start time, port, socket directory, ... (manual, 66.1)."""
        return (self._data / "postmaster.pid").read_text().splitlines()

    def _initdb(self) -> None:
        # What an initdb that was killed has left; a complete one always has PG_VERSION.
        shutil.rmtree(self._data, ignore_errors=True)
        command: list[str | Path] = [
            self.bin / "initdb",
            "-D",
            self._data,
            "-U",
            SUPERUSER,
            "--encoding=UTF8",
            "--auth=reject",
            *self.locale,
        ]
        made = subprocess.run(
            command,
            cwd=self._directories.base,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            capture_output=True,
            text=True,
            **processes.as_user(self._owner),
        )
        if made.returncode:
            fact = f"PostgreSQL's data directory {self._data} cannot be made: {made.stderr.strip()}"
            raise SluiceError(659, fact, "look at the free space and the rights of that directory")
        me = pwd.getpwuid(os.geteuid()).pw_name
        self._write("pg_hba.conf", "local all all peer map=owner\nhost all all 127.0.0.1/32 scram-sha-256\n")
        self._write("pg_ident.conf", f'owner "{me}" all\n')
        with self._files.open("postgresql.conf") as file:
            made_by_initdb = file.read().decode()
        self._write("postgresql.conf", f"{made_by_initdb}\ninclude 'sluice.conf'\n")

    @property
    def _files(self) -> PrivateTree:
        """The data directory: its owner may put links there, and root does not follow them."""
        return PrivateTree(str(self._directories.base), (self._data.name,))

    def _write(self, name: str, text: str) -> None:
        """Write a file of the server's user, in place of one of that name."""
        draft = f".{name}.{secrets.token_hex(4)}"
        with self._files.create(draft) as file:
            file.write(text.encode())
            if self._owner:
                os.fchown(file.fileno(), self._owner.pw_uid, self._owner.pw_gid)
        self._files.replace(name, draft)
