"""The slave's view of batches of the log, by the layouts of their changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.mapping.table_view import BoundView, as_seen, view
from sluice.arrow_rows import kept
from sluice.changelog.manifest import Manifest
from sluice.changelog.schema import NO_LAYOUT
from sluice.config.mapper import Mapper
from sluice.drain.excluded_tables import declined
from sluice.drain.reorder_ddl import timely
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.write_policy import WritePolicy


class SlaveViews:
    """The views of one slave, kept while their layouts come again. Changes are as in `CHANGES`.

    Args:
        salt: the key of hashes.
        skipped: tables of the master that are skipped, besides those that the mapper excludes.
        lasting: the slave keeps the history of rows.

    Attributes:
        tables: write policies of the slave's tables that occurred so far.
    """

    def __init__(
        self,
        mapper: Mapper,
        manifest: Manifest,
        salt: bytes,
        skipped: Collection[TableName] = (),
        *,
        lasting: bool = False,
    ) -> None:
        self._mapper = mapper
        self._manifest = manifest
        self._salt = salt
        self._skipped = skipped
        self._lasting = lasting
        self._sights: dict[int, BoundView] = {}
        self._excluded: set[int] = set()
        self.tables: dict[TableName, WritePolicy] = {}

    def seen(self, changes: pa.Table) -> tuple[pa.Table, dict[int, Layout]]:
        """The slave's view of changes, and of their layouts by id."""
        numbers = layouts_of(changes)
        if unknown := numbers - self._sights.keys() - self._excluded:
            layouts = self._manifest.layouts(unknown)
            self._excluded |= {number for number, layout in layouts.items() if self._mapper.excludes(layout.name)}
            given = unknown - self._excluded
            more = {number: view(self._mapper, layouts[number]) for number in given}
            self.tables |= {one.layout.name: self._mapper.write_policy(one.master.name) for one in more.values()}
            self._sights |= {number: BoundView(one, self._salt, lasting=self._lasting) for number, one in more.items()}
        if excluded := numbers & self._excluded:
            changes = declined(changes, excluded, self._gives)
        sights = {number: self._sights[number] for number in numbers - excluded}
        if skipped := [number for number, one in sights.items() if one.view.master.name in self._skipped]:
            changes = kept(changes, pc.invert(pc.is_in(changes["layout"], value_set=pa.array(skipped, pa.int64()))))
        changes = timely(changes, {number: one.view.master for number, one in sights.items()})
        return as_seen(changes, sights), {number: one.view.layout for number, one in sights.items()}

    def _gives(self, table: TableName) -> bool:
        return not (table in self._skipped or self._mapper.excludes(table))

    def left_out(self, changes: pa.Table) -> Counter[TableName]:
        """Numbers of changes of skipped tables, by the master's names."""
        found: Counter[TableName] = Counter()
        for one in pc.value_counts(changes["layout"]).to_pylist() if self._skipped else ():
            if (known := self._sights.get(one["values"])) and (name := known.view.master.name) in self._skipped:
                found[name] += one["counts"]
        return found

    def layouts(self) -> dict[int, Layout]:
        """All layouts that occurred so far, in the slave's view, by id."""
        return {number: one.view.layout for number, one in self._sights.items()}


def layouts_of(changes: pa.Table) -> set[int]:
    """Ids of the layouts of changes."""
    return set(pc.unique(changes["layout"]).to_pylist()) - {NO_LAYOUT}
