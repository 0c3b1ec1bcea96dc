"""Free ports on the loopback: the usual one if it is free, else one nearby."""

from __future__ import annotations

import socket
from collections.abc import Iterable

from sluice.errors import SluiceError

LOOPBACK = "127.0.0.1"
NEARBY = 50


def is_free(port: int) -> bool:
    """Whether a server could listen on the port now."""
    with socket.socket() as probe:
        # As servers do; without it a port of a server that just ended looks taken for a minute.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def choose(service: str, preferred: int, taken: Iterable[int] = ()) -> int:
    """A free port, `preferred` if possible, and none of `taken`.

    Raises:
        SluiceError: SLC-411, this port and the next ones are all taken.
    """
    excluded = set(taken)
    last = min(preferred + NEARBY, 65_536)
    for port in range(preferred, last):
        if port not in excluded and is_free(port):
            return port
    raise SluiceError(
        411,
        f"{service}: the ports {preferred} to {last - 1} of {LOOPBACK} are all taken",
        "end what listens there (`ss -ltnp` shows it), then `./sluice up` again",
    )
