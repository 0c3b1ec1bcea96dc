"""`./sluice relay`: the relay in the foreground."""

from __future__ import annotations

from sluice import log
from sluice.cli.context import context
from sluice.context import Context
from sluice.relay import server

# For a session of the control store, and for a statement: clients wait for it.
_PATIENCE_S = 5.0


def serve() -> int:
    """Serve until SIGTERM or SIGINT."""
    log.to_stderr()
    server.serve(_with_short_timeouts(context()), _show)
    return 0


def _with_short_timeouts(whole: Context) -> Context:
    connections = dict(whole.connections)
    if control := connections.get(whole.config.control):
        connections[whole.config.control] = control.with_timeouts()
    return Context(whole.config, connections, patience_s=_PATIENCE_S)


def _show(listening: server.RelayAddresses) -> None:
    print(f"relay: {listening.address}:{listening.port}", flush=True)
    if listening.admin_port is not None:
        print(f"figures: http://{listening.address}:{listening.admin_port}/", flush=True)
