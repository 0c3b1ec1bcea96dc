"""`./sluice relay`: the relay in the foreground."""

from __future__ import annotations

from sluice import log
from sluice.cli.context import context
from sluice.relay import server


def serve() -> int:
    """Serve until SIGTERM or SIGINT."""
    log.to_stderr()
    server.serve(context(), _show)
    return 0


def _show(listening: server.Listening) -> None:
    print(f"relay: {listening.address}:{listening.port}", flush=True)
    if listening.admin_port is not None:
        print(f"figures: http://{listening.address}:{listening.admin_port}/", flush=True)
