"""A table as a dump describes it by what every vendor understands: its columns and its key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sluice.model.layout import Layout
from sluice.vendors.protocol.read import TEXT, RowFormat

if TYPE_CHECKING:
    from sluice.model.names import TableName


@dataclass(frozen=True)
class PlainTable:
    """See `sluice.vendors.protocol.load.TableDefinition`."""

    layout: Layout

    @property
    def name(self) -> TableName:
        """See `TableDefinition`."""
        return self.layout.name

    @property
    def formats(self) -> Sequence[RowFormat]:
        """See `TableDefinition`."""
        return (TEXT,)

    def to_json(self) -> dict[str, Any]:
        """See `TableDefinition`."""
        return self.layout.to_json()

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> PlainTable:
        """The table that `to_json` wrote."""
        return cls(Layout.from_json(plain))
