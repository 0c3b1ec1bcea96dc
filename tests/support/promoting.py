"""A primary and a standby that copies its log and its slots; the standby takes its place, as far as it has come."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.two_servers import TwoServers
from support.waiting import until
from support.world import World

from sluice.crash import CrashPoint
from sluice.publish import publisher
from sluice.runtime import processes
from sluice.runtime.postgres import Cluster

LOGIN, PASSWORD, SLOT = "copies", "secret-copies", "standby"
_HBA = f"host replication {LOGIN} 127.0.0.1/32 scram-sha-256\n"
_UNREADY = "SELECT count(*) FROM pg_replication_slots WHERE failover AND (temporary OR NOT synced)"
_AS_FAR = "SELECT confirmed_flush_lsn - '0/0' FROM pg_replication_slots WHERE failover ORDER BY slot_name"


class Pair(TwoServers):
    """Two servers.

    Args:
        server_class: that of the tests' server.
    """

    def __init__(self, server_class: Any, directory: Path) -> None:
        self.old, self.new = (server_class(Cluster(directory / name)) for name in ("old", "new"))
        self.old.start()
        with self.old.cluster.admin() as admin:
            admin.execute(f"CREATE ROLE {LOGIN} LOGIN REPLICATION PASSWORD '{PASSWORD}'")
            (rules,) = admin.execute("SHOW hba_file").fetchone()
            Path(rules).write_text(_HBA + Path(rules).read_text())
            admin.execute("SELECT pg_reload_conf(), pg_create_physical_replication_slot(%s)", [SLOT])

    def copy(self) -> None:
        """Make the standby and start it."""
        cluster, leads = self.new.cluster, f"host=127.0.0.1 port={self.old.cluster.port} user={LOGIN} dbname=postgres"
        cluster._directories.make()
        shutil.rmtree(cluster._data, ignore_errors=True)
        subprocess.run(
            [cluster.bin / "pg_basebackup", "-D", cluster._data, "-S", SLOT, "-c", "fast", "-d", leads],
            check=True,
            cwd=cluster._directories.base,
            env={"PATH": os.defpath, "PGPASSWORD": PASSWORD},
            **processes.as_user(cluster._owner),
        )
        (cluster._data / "standby.signal").touch()
        self.new.start(
            f"primary_conninfo = '{leads} password={PASSWORD}'\nprimary_slot_name = '{SLOT}'\n"
            "hot_standby_feedback = on\nsync_replication_slots = on"
        )

    def wait_for_slots(self) -> None:
        """Wait until the standby has each slot as it is now."""
        with self.old.cluster.admin() as old, self.new.cluster.admin() as new:

            def is_ready() -> bool:
                old.execute("SELECT pg_log_standby_snapshot()")
                has_all = new.execute(_AS_FAR).fetchall() == old.execute(_AS_FAR).fetchall()
                return has_all and new.execute(_UNREADY).fetchone() == (0,)

            until(is_ready, seconds=60)

    def wait_for_log(self) -> None:
        """Wait until the standby has all that is in the log."""
        with self.old.cluster.admin() as old, self.new.cluster.admin() as new:
            (end,) = old.execute("SELECT pg_current_wal_flush_lsn()::text").fetchone()
            until(lambda: new.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [end]).fetchone() == (True,))

    def await_standby(self, slot: str) -> None:
        """Let the old server give nothing of its slots before the standby of this one has it."""
        with self.old.cluster.admin() as admin:
            admin.execute(f"ALTER SYSTEM SET synchronized_standby_slots = '{slot}'")
            admin.execute("SELECT pg_reload_conf()")
            until(lambda: admin.execute("SHOW synchronized_standby_slots").fetchone() == (slot,))

    def cut(self) -> None:
        """The standby gets nothing more."""
        with self.new.cluster.admin() as new:
            new.execute("ALTER SYSTEM SET primary_conninfo = ''")
            new.execute("SELECT pg_reload_conf()")
            until(lambda: not new.execute("SELECT FROM pg_stat_wal_receiver").fetchall())

    def promote(self) -> None:
        """The standby takes writes; the old one goes on, too."""
        with self.new.cluster.admin() as new:
            assert new.execute("SELECT pg_promote()").fetchone() == (True,)


@contextmanager
def halted_checkpoints(server: Any) -> Iterator[None]:
    """A large server takes minutes for the checkpoint that follows a promotion; meanwhile it takes writes already."""
    with server.cluster.admin() as admin:
        (pid,) = admin.execute("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'").fetchone()
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def list_only(world: World) -> None:
    """Publish, and die before the master knows."""

    def dies(point: CrashPoint) -> None:
        if point is CrashPoint.LISTED:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publisher, "crash_if_asked", dies)
        with pytest.raises(KeyboardInterrupt):
            world.publisher().publish(None)
