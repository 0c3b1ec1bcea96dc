"""Signals of a job at work, for the Airflow task that started it: a line on the standard output now and then.

A job sees nothing of Airflow's settings. The task hands the figures on to Airflow's own metrics, if these are on.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable

from sluice.monitor.signals import Sample
from sluice.shell import SIGNALS_ENV

# The same rhythm as that of the notes of runs.
_EVERY_S = 15.0


class Teller:
    """Says how things stand: each time it is called, but not more often than is of use, and at the end. It says nothing
    without a listener.

    Args:
        gather: the figures of this moment.
    """

    def __init__(self, gather: Callable[[], Iterable[Sample]]) -> None:
        self._gather = gather
        self._said = float("-inf")
        self._is_heard = bool(os.environ.get(SIGNALS_ENV))

    def __call__(self) -> None:
        """Say it, if it was not said a moment ago."""
        if self._is_heard and time.monotonic() - self._said >= _EVERY_S:
            self.end()

    def end(self) -> None:
        """Say it in any case: no later call would correct what was said before."""
        if self._is_heard:
            self._said = time.monotonic()
            samples = [[sample.signal.name, dict(sample.labels), sample.value] for sample in self._gather()]
            print(json.dumps({"signals": samples}), flush=True)
