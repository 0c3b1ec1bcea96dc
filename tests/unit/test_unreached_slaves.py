"""A slave that cannot be reached during an initial update is closed like any other, and the others go on (R8)."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from sluice.connections import ConnectionInfo
from sluice.errors import TransientError
from sluice.vendors.protocol.tasks import FromMaster, LoadJob, SlaveLoad
from sluice.vendors.registry import vendor


@pytest.mark.parametrize("name", ["mariadb", "oracle"])
def test_what_could_not_be_opened_can_be_closed(name):
    plan = SlaveLoad("zurich", name, "zurich", "s", 1, {})
    job = LoadJob("shop", FromMaster("postgresql", "shop", "1"), "", (), {}, (plan,), 1)
    with closing(socket.socket()) as silent:
        # Nobody listens there.
        silent.bind(("127.0.0.1", 0))
        info = ConnectionInfo(name, "127.0.0.1", silent.getsockname()[1], "d", "u", "p")
        receiver = vendor(name).receive(info, job, plan)
        with pytest.raises(TransientError, match="SLC-030"):
            receiver.open()
        receiver.close()
