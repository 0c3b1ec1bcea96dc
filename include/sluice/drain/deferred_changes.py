"""Deferred changes in memory and on disk: run by run, table by table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.net.effects import Run
from sluice.apply.net.net_effect import Net, Numbers, net
from sluice.apply.net.partition import divide, essential
from sluice.arrow_rows import filter_rows
from sluice.drain.plan import Shape, by_table, cuts
from sluice.drain.spill import MOST_BYTES, Spill
from sluice.model.action import Action
from sluice.model.layout import Layout
from sluice.model.names import TableName


@dataclass
class DeferredEffect:
    """The deferred changes of one table in one run. See `sluice.apply.net.effects.Effect`.

    Attributes:
        most: the bytes of changes that are netted at a time.
        rows: the number of changes.
    """

    layout: Layout
    most: int
    _kept: Spill
    _label: tuple[int, TableName]
    is_emptied: bool = False
    rows: int = 0

    def nets(self) -> Iterator[tuple[Net, pa.Table]]:
        """The net effect, of some of the keys at a time if there is much."""
        count = -(-self._kept.weights[self._label] // self.most)
        if count == 1:
            whole = pa.concat_tables(self.changes())
            yield net(self.layout, whole), whole
            return
        parts = self._parts(count)
        for number in range(count):
            if len(part := self._together(parts, number)):
                yield net(self.layout, part), part

    def changes(self) -> Iterator[pa.Table]:
        """The changes in their order."""
        return self._kept.read(self._label)

    def _parts(self, count: int) -> Spill:
        """The changes by the hash of their keys."""
        parts = Spill()
        for changes in self.changes():
            for index in np.flatnonzero(pc.equal(changes["action"], Action.TRUNCATE).to_numpy())[-1:].tolist():
                parts = Spill()
                for number in range(count):
                    parts.add(number, changes.slice(index, 1))
                changes = changes.slice(index + 1)
            for number, part in enumerate(divide(self.layout, changes, count)):
                parts.add(number, part)
        return parts

    def _together(self, parts: Spill, number: int) -> pa.Table:
        """The changes of one partition, reduced to the essential ones if they are many."""
        pending: list[pa.Table] = []
        weight, limit = 0, 2 * self.most
        for some in parts.read(number):
            pending.append(some)
            weight += some.nbytes
            if weight > limit:
                pending = [essential(self.layout, pa.concat_tables(pending))]
                weight = pending[0].nbytes
                limit = max(limit, 2 * weight)
        return pa.concat_tables(pending) if pending else pa.table([])


class DeferredChanges:
    """Changes that wait, in their order."""

    def __init__(self) -> None:
        self._kept = Spill()
        self._runs: list[dict[TableName, DeferredEffect]] = []
        self._begun = 0
        self._shapes: dict[TableName, Shape] = {}

    def add(self, changes: pa.Table, layouts: Mapping[int, Layout], most: Mapping[int, int]) -> None:
        """Append changes of rows.

        Args:
            layouts: the layouts of the changes, by id; others are ignored.
            most: see `DeferredEffect`, of some layouts; `MOST_BYTES` of the others.
        """
        changes = filter_rows(changes, pc.not_equal(changes["action"], Action.COMMIT))
        if not len(changes):
            return
        numbers = changes["layout"].to_numpy()
        begins = cuts(numbers, layouts, self._shapes)
        for index, (low, high) in enumerate(pairwise([0, *begins, len(changes)])):
            if index or not self._runs:
                self._runs.append({})
                self._begun += 1
            self._add(changes.slice(low, high - low), numbers[low:high], layouts, most)

    def runs(self) -> list[Run]:
        """Remove and return all changes, run by run."""
        runs: list[Run] = [list(run.values()) for run in self._runs]
        self._runs, self._shapes = [], {}
        return runs

    def __bool__(self) -> bool:
        return bool(self._runs)

    def _add(self, changes: pa.Table, numbers: Numbers, layouts: Mapping[int, Layout], most: Mapping[int, int]) -> None:
        run = self._runs[-1]
        for name, same in by_table(numbers, layouts).items():
            label = (self._begun, name)
            effect = run.get(name)
            if effect is None:
                at_once = most.get(same[0], MOST_BYTES)
                effect = run[name] = DeferredEffect(layouts[same[0]], at_once, self._kept, label)
            own = filter_rows(changes, pc.is_in(changes["layout"], value_set=pa.array(same, pa.int64())))
            effect.is_emptied = effect.is_emptied or bool(pc.any(pc.equal(own["action"], Action.TRUNCATE)).as_py())
            effect.rows += len(own)
            self._kept.add(label, own)
