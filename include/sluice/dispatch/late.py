"""Changes of a large transaction that are not carried out with the part of it that brings them, but later, together.

Those of tables whose keys are checked at commit wait for its end: until then two of their rows may have one key, so
what becomes of it is told by all of them. Those of tables that a slave looks through for rows that change wait until
they are worth it: else a table would be read as often as there are parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.changelog.schema import are_commands
from sluice.dispatch.batches import MOST_BYTES
from sluice.model.action import Action
from sluice.model.layout import Layout
from sluice.model.names import TableName

_FOUND = pa.array([Action.UPDATE, Action.DELETE], pa.string())


class Late:
    """What waits, while one batch after the other is prepared.

    Args:
        looked_through: whether the slave finds rows of such a table by looking at all that it has.
    """

    def __init__(self, looked_through: Callable[[Layout], bool]) -> None:
        self._looked_through = looked_through
        self._held: list[pa.Table] = []
        self._gathered: list[pa.Table] = []
        self._gathering: set[TableName] = set()

    def without(self, changes: pa.Table, layouts: Mapping[int, Layout], *, last: bool) -> pa.Table:
        """A batch, or a part of one, without those that wait; with those that need not any more, since it is the last
        part, or has a command, in front of which nothing may be left. Columns as in `CHANGES`."""
        if last and not (self._held or self._gathered):
            return changes
        commands = np.flatnonzero(are_commands(changes["action"]).to_numpy())
        begin = int(commands[-1]) + 1 if len(commands) else 0
        ready = [*(self._given_away() if begin else ()), changes.slice(0, begin)]
        behind = changes.slice(begin)
        late = [number for number, one in layouts.items() if one.key and one.deferrable]
        behind = _moved(self._held, behind, late)
        behind = _moved(self._gathered, behind, self._worth_waiting(behind, layouts).difference(late))
        if last:
            return pa.concat_tables([*ready, behind, *self._given_away()])
        if sum(one.nbytes for one in self._gathered) >= MOST_BYTES:
            ready += self._gathered
            self._gathered.clear()
        return pa.concat_tables([*ready, behind])

    def _worth_waiting(self, changes: pa.Table, layouts: Mapping[int, Layout]) -> set[int]:
        """The layouts of tables of which rows are to be found, or others wait already."""
        of_tables = {number: one.name for number, one in layouts.items() if self._looked_through(one)}
        found = pc.unique(changes["layout"].filter(pc.is_in(changes["action"], value_set=_FOUND)))
        self._gathering.update(of_tables[number] for number in found.to_pylist() if number in of_tables)
        return {number for number, name in of_tables.items() if name in self._gathering}

    def _given_away(self) -> list[pa.Table]:
        given = [*self._held, *self._gathered]
        self._held.clear()
        self._gathered.clear()
        self._gathering.clear()
        return given


def _moved(held: list[pa.Table], changes: pa.Table, numbers: Iterable[int]) -> pa.Table:
    """Let changes of these layouts wait; those that are left."""
    waits = pc.is_in(changes["layout"], value_set=pa.array(sorted(numbers), pa.int64()))
    if pc.any(waits).as_py():
        held.append(changes.filter(waits))
        return changes.filter(pc.invert(waits))
    return changes
