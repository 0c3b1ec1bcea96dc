"""Jobs of a bench, in processes of their own that have imported all they need and wait to begin."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.synchronize import Barrier, Event

from sluice.config.configuration import Config
from sluice.connections import ConnectionInfo
from sluice.context import Context
from sluice.errors import SluiceError

# What a process does; the event tells that the bench has seen enough.
Work = Callable[[Context, Event], None]

PATIENCE_S = 600
SPAWNED = multiprocessing.get_context("spawn")


class Workers:
    """A process for each of these, which can be pickled."""

    def __init__(self, context: Context, *works: Work) -> None:
        self._begin = SPAWNED.Barrier(len(works) + 1)
        self._over = SPAWNED.Event()
        shared = (context.config, context.connections, self._begin, self._over)
        self._processes = [SPAWNED.Process(target=_work, args=(work, *shared), daemon=True) for work in works]

    @property
    def pids(self) -> list[int]:
        """Their processes."""
        return [process.pid for process in self._processes if process.pid]

    @contextmanager
    def ready(self) -> Iterator[None]:
        """They begin with the block, and end with it. Raises SluiceError SLC-947 if one failed."""
        for process in self._processes:
            process.start()
        self._begin.wait(PATIENCE_S)
        try:
            yield
        finally:
            self._over.set()
            for process in self._processes:
                process.join(PATIENCE_S)
        self.look()

    def look(self) -> None:
        """Raises SluiceError SLC-947 if one has failed."""
        if any(process.exitcode for process in self._processes):
            hint = "what it said is above; fix that, and run the bench again"
            raise SluiceError(947, "a job of the bench failed", hint)


def until(reached: Callable[[], bool], look_s: float) -> None:
    """Wait for it. Raises SluiceError SLC-947 if that takes too long."""
    end = time.monotonic() + PATIENCE_S
    while not reached():
        if time.monotonic() > end:
            fact = f"after {PATIENCE_S} s a job of the bench had not done all of its work"
            raise SluiceError(947, fact, "with a large --scale on a slow machine try a smaller one; else report it")
        time.sleep(look_s)


def _work(work: Work, config: Config, connections: Mapping[str, ConnectionInfo], begin: Barrier, over: Event) -> None:
    context = Context(config, connections)
    begin.wait(PATIENCE_S)
    work(context, over)
