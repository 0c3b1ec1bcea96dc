"""The version of the product, and that of an executor."""

from __future__ import annotations

import socket

from sluice.errors import TransientError

VERSION = "0.1.0"


def expect(version: str) -> None:
    """See that this process has the version of the one that it works for.

    Raises:
        TransientError: SLC-377, it has not.
    """
    if version != VERSION:
        raise TransientError(
            377,
            f"the executor on {socket.gethostname()} has Sluice {VERSION}, and its job Sluice {version}",
            "nothing was moved; install one version on every machine that runs tasks (include/docs/install.md), and "
            "restart its executors: the next try goes on",
        )
