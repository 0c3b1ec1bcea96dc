"""A server of the oldest supported version, and the one of the newest that pg_upgrade makes of its data."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any, ClassVar

from support.managed import Oldest
from support.two_servers import TwoServers

from sluice.connections import ConnectionInfo
from sluice.runtime import processes
from sluice.runtime.postgres import Cluster


class Newest(Cluster):
    """A server whose data directory is made so that pg_upgrade takes that of the oldest one into it."""

    locale: ClassVar = [*Oldest.locale, "--no-data-checksums"]


class Upgrade(TwoServers):
    """Two servers, of which one runs at a time.

    Args:
        server_class: that of the tests' server.
    """

    def __init__(self, server_class: Any, directory: Path) -> None:
        self.old, self.new = server_class(Oldest(directory / "old")), server_class(Newest(directory / "new"))
        self.old.start()

    def run(self) -> None:
        """Stop the old server, let pg_upgrade make the new one of its data, and start that."""
        old, new = self.old.cluster, self.new.cluster
        self.new.start()
        new.stop()
        old.stop()
        for cluster in (old, new):
            cluster._write("pg_hba.conf", "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        command = [new.bin / "pg_upgrade", "--no-sync", "-U", "postgres", "-s", new.sockets]
        command += ["-b", old.bin, "-B", new.bin, "-d", old._data, "-D", new._data]
        done = subprocess.run(
            command,
            cwd=new._directories.base,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            capture_output=True,
            text=True,
            check=False,
            **processes.as_user(new._owner),
        )
        assert done.returncode == 0, done.stdout + done.stderr
        self.new.start()


def copy_logically(info: ConnectionInfo, server: Any, binaries: Path, *options: str) -> ConnectionInfo:
    """Copy a database into a new one of another server, whose owner owns all of it; with options of pg_dump."""
    made: ConnectionInfo = server.create_database()
    dump = [binaries / "pg_dump", "--no-owner", "--no-privileges", *options, *_address(info)]
    done = subprocess.run(dump, env={**os.environ, "PGPASSWORD": info.password}, capture_output=True, check=True)
    load = [binaries / "psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", *_address(made)]
    env = {**os.environ, "PGPASSWORD": made.password}
    subprocess.run(load, env=env, input=done.stdout, capture_output=True, check=True)
    return made


def _address(info: ConnectionInfo) -> list[str]:
    return [f"--host={info.host}", f"--port={info.port}", f"--username={info.login}", f"--dbname={info.database}"]
