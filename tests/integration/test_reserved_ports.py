"""Ports of the servers of tests: each belongs to one server while the process of its test lives."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sluice.paths import PROJECT
from sluice.runtime import ports

pytestmark = pytest.mark.postgres
# Another process of tests: it looks for ports when it is told to, and starts servers there.
OTHER = """
import socket
from support.places import reserve_port
print("ready", flush=True)
input()
servers = []
for _ in range(40):
    servers.append(socket.create_server(("127.0.0.1", reserve_port())))
print(*(server.getsockname()[1] for server in servers), flush=True)
input()
"""


class Other:
    """The other process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert self._read() == "ready"

    def begin(self) -> None:
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def ports(self) -> set[int]:
        return {int(word) for word in self._read().split()}

    def _read(self) -> str:
        return self._process.stdout.readline().strip()


@contextmanager
def other() -> Iterator[Other]:
    paths = os.pathsep.join(str(PROJECT / folder) for folder in ("tests", "include"))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(
        [sys.executable, "-c", OTHER], env={**os.environ, "PYTHONPATH": paths}, text=True, **pipes
    ) as process:
        try:
            yield Other(process)
        finally:
            process.kill()


def test_two_processes_that_look_for_ports_at_once_get_no_port_both():
    with other() as one, other() as two:
        one.begin()
        two.begin()
        found = one.ports(), two.ports()
    assert [len(ports) for ports in found] == [40, 40]
    assert not found[0] & found[1]


def test_a_restarted_server_comes_back_on_its_port_while_others_look_for_one(restartable):
    port = restartable.cluster.port
    with other() as one, other() as two:
        restartable.stop("fast")
        one.begin()
        taken = one.ports()
        # This one looks while the server starts.
        two.begin()
        restartable.start()
        taken |= two.ports()
    assert len(taken) == 80
    assert restartable.cluster.port == port


def test_a_server_whose_port_is_taken_starts_nowhere_else(restartable):
    port = restartable.cluster.port
    restartable.stop("fast")
    with socket.create_server((ports.LOOPBACK, port)), pytest.raises(AssertionError, match=f"port {port} .* taken"):
        restartable.start()
    assert restartable.cluster.service() is None
    restartable.start()
    assert restartable.cluster.port == port
