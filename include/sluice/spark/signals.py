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


def teller(gather: Callable[[], Iterable[Sample]]) -> Callable[[], None]:
    """Says how things stand each time it is called, but not more often than is of use; nothing if nobody listens."""
    if not os.environ.get(SIGNALS_ENV):
        return lambda: None
    said = float("-inf")

    def tell() -> None:
        nonlocal said
        if time.monotonic() - said < _EVERY_S:
            return
        said = time.monotonic()
        found = [[one.signal.name, dict(one.labels), one.value] for one in gather()]
        print(json.dumps({"signals": found}), flush=True)

    return tell
