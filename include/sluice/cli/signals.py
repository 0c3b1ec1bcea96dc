"""The signals that end a command."""

from __future__ import annotations

import signal


def exit_code(interrupted: KeyboardInterrupt) -> int:
    """The exit code of a command that a signal ended."""
    return 128 + int(*interrupted.args or (signal.SIGINT,))


def end_alike() -> None:
    """End on SIGTERM and SIGHUP as on Ctrl-C: a command says what it leaves behind, or undoes it."""

    def interrupt(number: int, _: object) -> None:
        raise KeyboardInterrupt(number)

    for caught in (signal.SIGTERM, signal.SIGHUP):
        # `nohup` lets a command ignore the one.
        if signal.getsignal(caught) is signal.SIG_DFL:
            signal.signal(caught, interrupt)
