"""How a slave names what the master calls otherwise; one mapping for data, tables created, and comparison alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sluice.model.names import TableName


@dataclass(frozen=True)
class Mapper:
    """Names of the master -> names of the slave."""

    schemas: Mapping[str, str] = field(default_factory=dict)

    def table(self, name: TableName) -> TableName:
        """Where the slave keeps this table."""
        return TableName(self.schemas.get(name.schema, name.schema), name.table)
