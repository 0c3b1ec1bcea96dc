"""Steps whose first one does its work, and is lost."""

from __future__ import annotations

from sluice.context import Context
from sluice.errors import TransientError
from sluice.steps import LocalSteps, Result, RunningStep, Work


class LosingSteps(LocalSteps):
    """See `LocalSteps`.

    Attributes:
        works: what was asked for, in order.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.works: list[Work] = []

    def start(self, name: str, work: Work) -> RunningStep:
        """Start a thread."""
        self.works.append(work)
        return super().start(name, _lost(work) if len(self.works) == 1 else work)


def _lost(work: Work) -> Work:
    def lost(context: Context) -> Result:
        work(context)
        raise TransientError(376, "lost", "")

    return lost
