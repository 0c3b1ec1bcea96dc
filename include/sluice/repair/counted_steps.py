"""Steps of a repair at points: what each writes is counted once, also if its result never comes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from sluice.changelog.points import Point
from sluice.context import Context
from sluice.model.names import Pair
from sluice.spark_environment import work_name
from sluice.steps import Result, Steps, Work, run_step
from sluice.store import repair_counts
from sluice.store.repair_counts import Counts


class CountedSteps:
    """Does one step after the other, for rows of one table.

    Attributes:
        lost: counts of batches whose step was lost. They may have been committed, and are to be done again.
    """

    def __init__(self, context: Context, steps: Steps, pair: Pair) -> None:
        self._context = context
        self._steps = steps
        self._name = work_name("repair", pair.source, [pair.slave])
        self.lost: dict[int, Counts] = {}

    def run(self, work: Work, point: Point) -> Result:
        """Do a step that notes its counts at this point (`repair_counts.note`), which is held meanwhile.

        Raises:
            SluiceError: why the step failed, or was lost.
        """
        note = partial(repair_counts.note, self._context.store, point.id)
        try:
            for batch, counts in self.lost.items():
                note(batch, counts)
            return run_step(self._steps, f"{self._name} at {point.position}", work, lambda: None)
        except BaseException:
            self.lost |= repair_counts.read(self._context.store, point.id)
            raise

    def forget(self, batches: Iterable[int]) -> None:
        """Forget the counts of batches that are done: they were told with their result."""
        for batch in batches:
            self.lost.pop(batch, None)
