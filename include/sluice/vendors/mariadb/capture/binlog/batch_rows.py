"""Changes of the log that are not given yet, by columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sluice.changelog.schema import SWEPT, images_of
from sluice.model.action import Action
from sluice.vendors.mariadb.capture.binlog.values import Image


@dataclass
class BatchRows:
    """Changes that are not given yet, by columns."""

    last: list[int] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)
    layouts: list[int] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    new: list[Image | None] = field(default_factory=list)
    old: list[Image | None] = field(default_factory=list)
    bytes: int = 0

    def batch(self) -> pa.RecordBatch:
        last = pa.array(self.last, pa.int64())
        arrays = [
            last,
            last.cast(pa.string()),
            pa.array(self.keys, pa.int64()),
            pa.array(self.layouts, pa.int64()),
            pa.array(self.actions, pa.string()),
            images_of(self.new),
            images_of(self.old),
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=SWEPT)

    def put(self, transaction: int, key: int, layout: int, action: str, new: Image | None, old: Image | None) -> None:
        """One more change."""
        self.last.append(transaction)
        self.keys.append(key)
        self.layouts.append(layout)
        self.actions.append(action)
        self.new.append(new)
        self.old.append(old)

    def cut(self, count: int) -> None:
        """Take back what is behind so many changes, but not that a table is lost: it stays so."""
        kept = [place for place in range(count, len(self.actions)) if self.actions[place] == Action.LOST]
        columns: tuple[list[Any], ...] = (self.last, self.keys, self.layouts, self.actions, self.new, self.old)
        for one in columns:
            one[count:] = [one[place] for place in kept]
