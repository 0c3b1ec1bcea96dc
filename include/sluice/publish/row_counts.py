"""Counts the changes of each table while a segment is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pyarrow as pa

from sluice.model.action import OF_A_ROW
from sluice.model.activity import RowCounts
from sluice.model.layout import Layout
from sluice.model.names import TableName


class Counting:
    """The changes of one segment, by layout and kind."""

    def __init__(self) -> None:
        self._found: Counter[tuple[int, str]] = Counter()

    def count(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Count a batch, and hand it on."""
        kinds = pa.table({name: batch.column(name) for name in ("layout", "action")})
        groups = kinds.group_by(["layout", "action"]).aggregate([([], "count_all")])
        for group in groups.to_pylist():
            self._found[group["layout"], group["action"]] += group["count_all"]
        return batch

    def by_table(self, layouts: Mapping[int, Layout]) -> dict[TableName, RowCounts]:
        """The changes of rows of each table."""
        counts: dict[TableName, RowCounts] = {}
        for (layout, action), number in self._found.items():
            if action in OF_A_ROW and layout in layouts:
                name = layouts[layout].name
                rows = RowCounts(*(number if action == kind else 0 for kind in OF_A_ROW))
                counts[name] = counts.get(name, RowCounts()) + rows
        return counts
