"""Defers changes of a large transaction, so that they are applied later than the part that has them, and together.

Changes of tables with deferrable keys wait for the end of the transaction: until then two rows may have one key, so
the net effect needs all of them. Changes of tables that a slave has to scan for rows wait until they are many: else a
table would be scanned once for each part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.net.effects import Run, Step
from sluice.changelog.schema import are_commands, have_actions
from sluice.drain.batches import MOST_BYTES
from sluice.drain.deferred_changes import DeferredChanges
from sluice.drain.parsed_ddl import ParsedDdl
from sluice.drain.plan import steps
from sluice.model.action import Action
from sluice.model.layout import Layout
from sluice.model.names import TableName

_FOUND = (Action.UPDATE, Action.DELETE)


class Deferred:
    """The deferred changes, while one batch after the other is prepared.

    Args:
        looked_through: whether the slave scans a table to find its rows.
        all_wait: defer everything, as if the keys of all tables were deferrable.
    """

    def __init__(self, looked_through: Callable[[Layout], bool], *, all_wait: bool = False) -> None:
        self._looked_through = looked_through
        self._all_wait = all_wait
        self._deferred = DeferredChanges()
        self._gathered: list[pa.Table] = []
        self._gathering: set[TableName] = set()

    def steps(
        self, changes: pa.Table, layouts: Mapping[int, Layout], ddl: ParsedDdl | None = None, *, last: bool
    ) -> Iterator[Step]:
        """The steps that can be taken now, with columns as in `CHANGES`.

        Deferred changes come with the last part, or before a command.
        """
        if last and not (self._deferred or self._gathered or self._all_wait):
            yield from steps(changes, layouts, ddl)
            return
        late = [number for number, layout in layouts.items() if self._all_wait or (layout.key and layout.deferrable)]
        commands = np.flatnonzero(are_commands(changes["action"]).to_numpy()).tolist()
        if commands:
            first, end = commands[0], commands[-1] + 1
            before = self._defer(changes.slice(0, first), layouts, late)
            within, changes = changes.slice(first, end - first), changes.slice(end)
            yield from self._release()
            yield from steps(pa.concat_tables([*self._given_away(), before, within]), layouts, ddl)
        changes = self._defer(changes, layouts, late)
        worth_waiting = self._worth_waiting(changes, layouts).difference(late)
        waits = _is_in(changes, worth_waiting)
        if pc.any(waits).as_py():
            self._gathered.append(changes.filter(waits))
            changes = changes.filter(pc.invert(waits))
        if last or sum(part.nbytes for part in self._gathered) >= MOST_BYTES:
            changes = pa.concat_tables([changes, *self._given_away(end=last)])
        yield from steps(changes, layouts)
        if last:
            yield from self._release()

    def _defer(self, changes: pa.Table, layouts: Mapping[int, Layout], late: Iterable[int]) -> pa.Table:
        """Defer changes of these layouts to the end; returns the others."""
        waits = _is_in(changes, late)
        if not pc.any(waits).as_py():
            return changes
        most = {number: MOST_BYTES for number in late if self._looked_through(layouts[number])}
        self._deferred.add(changes.filter(waits), layouts, most)
        return changes.filter(pc.invert(waits))

    def _release(self) -> list[Run]:
        runs = self._deferred.runs()
        if not self._all_wait:
            # These are read while others are put aside.
            self._deferred = DeferredChanges()
        return runs

    def _worth_waiting(self, changes: pa.Table, layouts: Mapping[int, Layout]) -> set[int]:
        """Layouts of scanned tables with updates or deletes, here or among the waiting changes."""
        of_tables = {number: layout.name for number, layout in layouts.items() if self._looked_through(layout)}
        searching = pc.unique(changes["layout"].filter(have_actions(changes["action"], _FOUND)))
        self._gathering.update(of_tables[number] for number in searching.to_pylist() if number in of_tables)
        return {number for number, name in of_tables.items() if name in self._gathering}

    def _given_away(self, *, end: bool = True) -> list[pa.Table]:
        given = list(self._gathered)
        self._gathered.clear()
        if end:
            self._gathering.clear()
        return given


def _is_in(changes: pa.Table, layouts: Iterable[int]) -> pa.ChunkedArray:
    return pc.is_in(changes["layout"], value_set=pa.array(sorted(layouts), pa.int64()))
