"""`./sluice relay`: the relay in the foreground."""

from __future__ import annotations

from typing import NoReturn

from sluice import library_errors, log
from sluice.cli.context import context
from sluice.context import Context
from sluice.outside_text import say
from sluice.process_end import leave_process
from sluice.relay import server

# For a session of the control store, and for a statement: clients wait for it.
_PATIENCE_S = 5.0


def serve() -> NoReturn:
    """Serve until SIGTERM or SIGINT, and leave the process."""
    log.to_stderr()
    code = 0
    try:
        server.serve(_with_short_timeouts(context()), _show)
    except Exception as error:
        library_errors.tell(error)
        code = 1
    leave_process(code)


def _with_short_timeouts(whole: Context) -> Context:
    connections = dict(whole.connections)
    if control := connections.get(whole.config.control):
        connections[whole.config.control] = control.with_timeouts()
    return Context(whole.config, connections, patience_s=_PATIENCE_S)


def _show(listening: server.RelayAddresses) -> None:
    say(f"relay: {listening.address}:{listening.port}")
    if listening.admin_port is not None:
        say(f"figures: http://{listening.address}:{listening.admin_port}/")
