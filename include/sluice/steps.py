"""Steps: bounded pieces of a job's work, which move its rows.

A job's process asks for one step after the other. Meanwhile it renews its lease and looks at its gate. A step runs
wherever there is room, opens by itself what it reads and writes, and is fenced by the epoch that it is given: one that
nobody waits for any more changes nothing (R6).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from threading import Thread
from typing import Any, Protocol

from sluice.context import Context
from sluice.library_errors import classify

# A plain result, as JSON has it.
Result = dict[str, Any]
# A function of a module, or a `functools.partial` of one, with arguments that can be pickled.
Work = Callable[[Context], Result]
# Does a work, here or elsewhere.
Do = Callable[[Work], Result]


class RunningStep(Protocol):
    """A step at work."""

    def wait(self, seconds: float) -> Result | None:
        """Its result; None if it is still at work after so long.

        Raises:
            SluiceError: why the step failed.
        """

    def cancel(self) -> None:
        """Ask for its end, which is not waited for."""


class Steps(Protocol):
    """Starts steps."""

    def start(self, name: str, work: Work) -> RunningStep:
        """Start a step.

        Args:
            name: the work and its slave, for a list of running steps.
        """


# How long a step works, so that those of others have their turn: what it reads once, the next one reads again.
STEP_S = 10.0
# How often a job's process looks at its lease and its gate while a step is at work.
LOOK_S = 0.5


def run_step(steps: Steps, name: str, work: Work, meanwhile: Callable[[], None]) -> Result:
    """Do a step, and call `meanwhile` now and then until it is done; if that raises, the step is cancelled.

    Raises:
        SluiceError: why the step failed, or what `meanwhile` raised.
    """
    running = steps.start(name, work)
    try:
        while (result := running.wait(LOOK_S)) is None:
            meanwhile()
    except BaseException:
        running.cancel()
        raise
    return result


def do_here(context: Context) -> Do:
    """Do works in this process."""
    return lambda work: work(context)


class LocalSteps:
    """Steps as threads of this process."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def start(self, name: str, work: Work) -> RunningStep:
        """Start a thread."""
        # A thread cannot be ended from outside, but its epoch is over soon.
        return ThreadStep(name, lambda: work(self._context), lambda: None)


class ThreadStep:
    """A step that a thread does, or waits for.

    Args:
        end: asks for its end.
    """

    def __init__(self, name: str, work: Callable[[], Result], end: Callable[[], None]) -> None:
        self._done: Future[Result] = Future()
        self._end = end

        def run() -> None:
            try:
                self._done.set_result(work())
            except BaseException as error:
                self._done.set_exception(classify(error) or error)

        # A process that ends does not wait for it.
        Thread(target=run, name=name, daemon=True).start()

    def wait(self, seconds: float) -> Result | None:
        """Its result, if it has one within so many seconds."""
        try:
            return self._done.result(seconds)
        except NotYet:
            if self._done.done():
                raise
            return None

    def cancel(self) -> None:
        """Ask for its end."""
        self._end()
