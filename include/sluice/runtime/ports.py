"""Ports on loopback: the usual one if it is free, else any."""

from __future__ import annotations

import socket

HOST = "127.0.0.1"


def free(preferred: int, taken: frozenset[int] = frozenset()) -> int:
    """A port that nobody listens on, `preferred` if possible, and none of `taken`."""
    for port in (preferred, 0, 0, 0, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            if (found := int(probe.getsockname()[1])) not in taken:
                return found
    raise OSError("no free port on loopback")


def answers(port: int) -> bool:
    """Whether somebody accepts connections there."""
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False
