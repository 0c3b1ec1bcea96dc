"""Rows that a thread sends to a slave: an error is never forgotten, and a server that hangs holds up nobody."""

from __future__ import annotations

import socket
from types import SimpleNamespace

import pytest

from sluice.vendors.mariadb.load.ahead import LoadAhead


def test_an_error_is_raised_until_the_end_and_a_load_that_hangs_breaks_off():
    ours, servers = socket.socketpair()
    with ours, servers:
        loads, done = LoadAhead(SimpleNamespace(_sock=ours)), []
        loads.begin(lambda: done.append("first"))
        loads.settle()
        loads.begin(lambda: [][0])
        for _ in range(2):
            with pytest.raises(IndexError):
                loads.begin(lambda: done.append("behind the error"))
            with pytest.raises(IndexError):
                loads.settle()
        loads.close()
        again = LoadAhead(SimpleNamespace(_sock=ours))
        again.begin(lambda: done.append(ours.recv(1)))
        again.close()
    assert done == ["first", b""]
