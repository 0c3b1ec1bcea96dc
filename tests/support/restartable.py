"""A server of the tests that is restarted while others are at work with it."""

from __future__ import annotations

import os
import signal

import psutil
import pytest

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

    def restart(self, mode):
        """As `pg_ctl restart -m MODE`, on the same port."""
        self.stop(mode)
        self.start()

    def stop(self, mode):
        """As `pg_ctl stop -m MODE`."""
        self._port, leader = self.cluster.port, psutil.Process(self.cluster.service().pid)
        os.kill(leader.pid, MODES[mode])
        psutil.wait_procs([leader], 30)

    def start(self):
        """On the port where it was."""
        self._server.start(first=self._port)


@pytest.fixture(scope="module")
def restartable(server, tmp_path_factory):
    made = Restartable(type(server), tmp_path_factory.mktemp("restartable"))
    yield made
    made.cluster.remove()
