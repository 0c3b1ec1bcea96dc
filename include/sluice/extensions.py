"""Plugins, vetoes and other code of users: found by name, and called with a time limit."""

from __future__ import annotations

import faulthandler
import time
from collections.abc import Callable
from importlib import import_module
from threading import Event, Thread
from typing import TypeVar

_T = TypeVar("_T")

# For how long one call is waited for; and how much longer by a process in which nothing else can run any more.
PATIENCE_S = 300.0
MORE_S = 60.0
_STDERR = 2
# How often who waits looks whether the process is to end.
_LOOK_S = 0.2

# Set once the process is asked to end: no answer is waited for any more.
leaving = Event()


class UnusableExtension(ValueError):
    """Why there is no such hook."""


def call_hook(group: str, named: str, *arguments: object) -> object:
    """Call the hook of that name with these arguments.

    Args:
        group: of entry points, of which `named` is one unless it is written ``module:attribute``.

    Raises:
        Unusable: there is none, or it fails, or does not end.
    """
    module, colon, attribute = named.partition(":")

    def find() -> object:
        if colon:
            return getattr(import_module(module), attribute)(*arguments)
        # An import that takes as long as all others here.
        from importlib.metadata import entry_points

        (point,) = entry_points(group=group, name=named)
        return point.load()(*arguments)

    return usable(find)


def usable(make: Callable[[], _T]) -> _T:
    """Call `make`. Raises UnusableExtension if it fails, or does not end in time."""
    try:
        return call_in_time(make)
    except Exception as error:
        raise UnusableExtension(f"{type(error).__name__}: {error}") from error


def call_in_time(call: Callable[[], _T]) -> _T:
    """The answer of the call, or its error. Raises TimeoutError if it does neither in time, and SystemExit if the
    process is asked to end before; the call then goes on by itself.

    A call that lets nothing else of Python run, as a search by `re` does, cannot be left alone: then the process ends
    with exit code 1, and says in which line each of its threads was.
    """
    answers: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(call())
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=run, daemon=True, name="hook")
    # There is one such watch in a process: of two calls at the same time the later one has it.
    faulthandler.dump_traceback_later(PATIENCE_S + MORE_S, exit=True, file=_STDERR)
    try:
        thread.start()
        end = time.monotonic() + PATIENCE_S
        while thread.is_alive() and (left := end - time.monotonic()) > 0 and not leaving.is_set():
            thread.join(min(left, _LOOK_S))
    finally:
        faulthandler.cancel_dump_traceback_later()
    if errors:
        raise errors[0] if isinstance(errors[0], Exception) else RuntimeError(f"it ended by {errors[0]!r}")
    if not answers:
        if leaving.is_set():
            raise SystemExit
        raise TimeoutError(f"no answer for {PATIENCE_S:g} s")
    return answers[0]
