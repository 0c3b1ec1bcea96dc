"""Where servers of a test session listen, and where they keep their data."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sluice.runtime import ports

# A disk in memory: a test makes databases by the hundred, which are gone when it ends.
_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 6 << 30
# Below those that the system gives to clients, and apart from the usual ports of Sluice, Spark and Airflow.
_PORTS = range(16_000, 18_000)
# They keep the ports that this process has reserved.
_reservations: list[socket.socket] = []


@contextmanager
def server_directory(otherwise: Path) -> Iterator[Path]:
    """A directory for a server's data: in memory if there is room, else the other one."""
    if not _MEMORY.is_dir() or shutil.disk_usage(_MEMORY).free < _ROOM_BYTES:
        yield otherwise
        return
    with tempfile.TemporaryDirectory(prefix="sluice-test-", dir=_MEMORY) as directory:
        # The user of root's server goes through it.
        Path(directory).chmod(0o711)
        yield Path(directory) / "server"


def reserve_port() -> int:
    """Find a free port, and keep other processes of tests off it while this process lives.

    A server that stops and starts again finds its port free. Nobody listens there if no server is started.
    """
    for port in _PORTS:
        # A name of the network's own, as ports are: the system gives it back however this process ends.
        reservation = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            reservation.bind(f"\0sluice-test-port-{port}")
        except OSError:
            reservation.close()
            continue
        # Programs that are no tests reserve nothing, and servers outlive a process of tests that was killed.
        if ports.is_free(port):
            _reservations.append(reservation)
            return port
        reservation.close()
    raise AssertionError(f"the ports {_PORTS.start} to {_PORTS.stop - 1} are all taken")
