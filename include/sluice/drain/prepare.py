"""The plan for the next batch, made by a thread while the slave's server works at the one before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from itertools import repeat

import pyarrow.compute as pc

from sluice.apply.net.effects import Step
from sluice.drain.batches import Batch
from sluice.drain.deferred import Deferred
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.position import Position
from sluice.prefetch import fetch_ahead


@dataclass(frozen=True)
class PreparedSteps:
    """The plan for a batch, or for a part of one; `last` as in `Batch`."""

    steps: list[Step]
    end: Position
    changes: int
    skipped: Counter[TableName]
    last: bool


class BatchPreparation:
    """The batches of the log, one after the other, each as the steps that it takes.

    Args:
        prepare: finds out these steps, given what waits of earlier parts.
        looked_through: see `Deferred`.
    """

    def __init__(
        self, prepare: Callable[[Batch, Deferred], PreparedSteps], looked_through: Callable[[Layout], bool]
    ) -> None:
        self._prepare = prepare
        self._looked_through = looked_through
        self._coming: Generator[PreparedSteps] | None = None

    def next(self, within: int, read: Callable[[], Iterator[Batch]]) -> BatchInProgress:
        """The next batch, if it was prepared and ends within that ordinal; else the first one that is read now."""
        coming = self._coming
        first = next(coming, None) if coming else None
        if not coming or not first or first.end.ordinal > within:
            self.close()
            waiting = Deferred(self._looked_through)
            coming = self._coming = fetch_ahead(map(self._prepare, read(), repeat(waiting)))
            first = next(coming)
        return BatchInProgress(first, coming)

    def together(self, parts: Iterator[Batch], ordinals: list[int]) -> PreparedSteps:
        """The first of these batches as a whole: its changes are deferred, in memory and then on disk.

        Args:
            ordinals: gets those of its transactions, also if it cannot be prepared.
        """
        late = Deferred(self._looked_through, all_wait=True)
        steps: list[Step] = []
        changes, skipped = 0, Counter[TableName]()
        for batch in parts:
            ordinals += [
                ordinal for ordinal in pc.unique(batch.changes["ordinal"]).to_pylist() if ordinal not in ordinals[-1:]
            ]
            part = self._prepare(batch, late)
            steps += part.steps
            changes += part.changes
            skipped += part.skipped
            if batch.last:
                break
        return PreparedSteps(steps, batch.end, changes, skipped, last=True)

    def close(self) -> None:
        """Forget what was prepared for batches to come."""
        if self._coming is not None:
            self._coming.close()
            self._coming = None


class BatchInProgress:
    """One batch, which is prepared further while its first parts are carried out.

    Attributes:
        end: where the slave is once it has it.
        changes, skipped: how many there were, and how many of tables that the slave is not given; by the parts taken.
    """

    def __init__(self, first: PreparedSteps, others: Iterator[PreparedSteps]) -> None:
        self.end = first.end
        self.changes = 0
        self.skipped: Counter[TableName] = Counter()
        self._parts = [first]
        self._others = others

    def steps(self) -> Iterator[Step]:
        """Its statements, in order; none of them is kept."""
        while self._parts:
            part = self._parts.pop()
            self.changes += part.changes
            self.skipped.update(part.skipped)
            yield from part.steps
            if not part.last:
                self._parts.append(next(self._others))
