"""`./sluice status`. A module of its own, since it is typed most, and what the other commands import takes longer."""

from __future__ import annotations

import time
from datetime import datetime

from sluice.cli.context import context as _context
from sluice.monitor import status
from sluice.outside_text import say

# Each look at the store costs it a dozen queries.
_LEAST_S = 0.1


def show_status(*, as_json: bool, every_s: float | None = None) -> int:
    """Print where every replication stands. 0 if all are NORMAL, active and answer, their sources are published,
    no table is left out, and the last comparison found nothing different.

    Args:
        every_s: print it again after so many seconds, without end.
    """
    context = _context()
    while True:
        rows = status.statuses(context)
        say(status.as_json(rows) if as_json else status.as_table(rows))
        if every_s is None:
            return 0 if all(row.well for row in rows) else 1
        time.sleep(max(every_s, _LEAST_S))
        if not as_json:
            say(f"\n{datetime.now().astimezone():%Y-%m-%d %H:%M:%S %Z}")
