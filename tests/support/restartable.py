"""Servers of the tests that are restarted, or killed, while others are at work with them."""

from __future__ import annotations

import os
import signal

import psutil
import pytest

from sluice.runtime import processes
from sluice.runtime.postgres import Cluster

# What `pg_ctl restart` sends: fast ends every session, immediate does not even write a checkpoint.
MODES = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}


class Restartable:
    """A server of its own."""

    def __init__(self, server_class, directory):
        self.cluster = Cluster(directory)
        self._server = server_class(self.cluster)
        self._server.start()
        self.create_database, self.connect = self._server.create_database, self._server.connect
        self.create_store = self._server.create_store

    def restart(self, mode):
        """As `pg_ctl restart -m MODE`, on the same port."""
        self.stop(mode)
        self.start()

    def stop(self, mode):
        """As `pg_ctl stop -m MODE`."""
        leader = psutil.Process(self.cluster.service().pid)
        os.kill(leader.pid, MODES[mode])
        assert not processes.alive_after(30, [leader])

    def start(self):
        """Start it on the port where it was."""
        self._server.start()


@pytest.fixture(scope="module")
def restartable(server, tmp_path_factory):
    made = Restartable(type(server), tmp_path_factory.mktemp("restartable"))
    yield made
    made.cluster.remove()


class Fragile:
    """A server whose commits reach the disk late, to be killed as a power failure would."""

    def __init__(self, server_class, directory):
        self.cluster = Cluster(directory)
        self._server = server_class(self.cluster)
        self.create_database, self.connect = self._server.create_database, self._server.connect
        self.start()

    def kill(self):
        """End all of its processes at once, then start it again."""
        leader = psutil.Process(self.cluster.service().pid)
        every = [leader, *leader.children(recursive=True)]
        for process in every:
            os.kill(process.pid, signal.SIGSTOP)
        for process in every:
            os.kill(process.pid, signal.SIGKILL)
        assert not processes.alive_after(20, every)
        self.start()

    def start(self):
        """What commits without waiting is written after ten seconds."""
        self._server.start("wal_writer_delay = 10s\nautovacuum = off")


@pytest.fixture(scope="module")
def fragile(server, tmp_path_factory):
    made = Fragile(type(server), tmp_path_factory.mktemp("fragile"))
    yield made
    made.cluster.remove()
