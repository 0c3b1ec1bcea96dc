"""The slave's view of batches of the log, by the layouts of their changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.mapping.table_view import BoundView, view
from sluice.changelog.manifest import Manifest
from sluice.changelog.schema import NO_LAYOUT
from sluice.config.mapper import Mapper
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.write_policy import WritePolicy


@dataclass(frozen=True)
class ViewsOfChanges:
    """The views of the layouts in some changes, by the layouts' numbers.

    Attributes:
        given: of tables that the slave gets by its configuration.
        excluded: layouts of tables that it does not get.
        left_out: those among the given that it gets no changes of for a time.
    """

    given: Mapping[int, BoundView]
    excluded: Collection[int]
    left_out: Collection[int]

    def masters(self) -> dict[int, Layout]:
        """The layouts of what is given, as the master has them."""
        return {number: bound.view.master for number, bound in self.given.items()}

    def layouts(self) -> dict[int, Layout]:
        """The same as the slave sees them."""
        return {number: bound.view.layout for number, bound in self.given.items()}


class SlaveViews:
    """The views of one slave, kept while their layouts come again.

    Args:
        salt: the key of hashes.
        skipped: tables of the master that are skipped, besides what the mapper excludes.
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
        self._views: dict[int, BoundView] = {}
        self._excluded: set[int] = set()
        self.tables: dict[TableName, WritePolicy] = {}

    def for_changes(self, changes: pa.Table) -> ViewsOfChanges:
        """The views of the layouts in changes, which are as in `CHANGES`."""
        numbers = layouts_of(changes)
        if unknown := numbers - self._views.keys() - self._excluded:
            self._learn(unknown)
        given = {number: self._views[number] for number in numbers - self._excluded}
        left_out = [number for number, bound in given.items() if bound.view.master.name in self._skipped]
        return ViewsOfChanges(given, numbers & self._excluded, left_out)

    def _learn(self, unknown: set[int]) -> None:
        layouts = self._manifest.layouts(unknown)
        self._excluded |= {number for number, layout in layouts.items() if self._mapper.excludes(layout.name)}
        more = {number: view(self._mapper, layouts[number]) for number in unknown - self._excluded}
        self.tables |= {
            table_view.layout.name: self._mapper.write_policy(table_view.master.name) for table_view in more.values()
        }
        self._views |= {
            number: BoundView(table_view, self._salt, lasting=self._lasting) for number, table_view in more.items()
        }

    def gives(self, table: TableName) -> bool:
        """Whether the slave gets changes of a table of the master."""
        return not (table in self._skipped or self._mapper.excludes(table))

    def left_out(self, changes: pa.Table) -> Counter[TableName]:
        """Numbers of changes of skipped tables, by the master's names."""
        counts: Counter[TableName] = Counter()
        for count in pc.value_counts(changes["layout"]).to_pylist() if self._skipped else ():
            if (known := self._views.get(count["values"])) and (name := known.view.master.name) in self._skipped:
                counts[name] += count["counts"]
        return counts

    def layouts(self) -> dict[int, Layout]:
        """All layouts that occurred so far, in the slave's view, by id."""
        return {number: bound.view.layout for number, bound in self._views.items()}


def layouts_of(changes: pa.Table) -> set[int]:
    """Ids of the layouts of changes."""
    return set(pc.unique(changes["layout"]).to_pylist()) - {NO_LAYOUT}
