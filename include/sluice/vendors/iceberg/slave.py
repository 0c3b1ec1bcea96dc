"""A slave of files whose versions are committed to Iceberg, one after the other.

The version is the truth: it has the data, the position and the fence. What Iceberg lists follows it, and is brought up
to it by the drain that takes over if one died between the two.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from sluice.model.names import TableName
from sluice.model.position import Position, Snapshot
from sluice.vendors.parquet.directory import reachable
from sluice.vendors.parquet.slave import ParquetSlave
from sluice.vendors.parquet.versions import Table, Version

if TYPE_CHECKING:
    from sluice.vendors.iceberg.tables import IcebergTables


class IcebergSlave(ParquetSlave):
    """See `sluice.vendors.protocol.slave.SlaveDatabase`."""

    @cached_property
    def _tables(self) -> IcebergTables:
        # The library takes seconds to load, and tasks that fill and compare files do without it.
        from sluice.vendors.iceberg.tables import IcebergTables

        return IcebergTables(self.directory)

    def take_over(self, epoch: int, *, blocks: bool = True) -> tuple[Position, Snapshot | None]:
        """Raise the fence. A version that a killed job did not commit to Iceberg is committed first."""
        with reachable(f"taking over {self.pair}"):
            late = self.versions.current()
            if self._tables.commit(late):
                self.versions.renew(late)
        return super().take_over(epoch, blocks=blocks)

    def admit(self, table: Table, beside: TableName | None) -> None:
        """Look whether Iceberg can have a table of these columns.

        Raises:
            SluiceError: SLC-432, it cannot, or not beside the rows that stay.
        """
        stays = self.kind.lasting and self.version.keeps == self.kind.name
        with reachable(f"looking at {table.name}"):
            self._tables.admit(table.name, self.kind.schema(table.kept), beside=beside if stays else None)

    def _become(self, after: Version) -> None:
        super()._become(after)
        with reachable(f"telling Iceberg of version {self.version.number}"):
            self._tables.commit(self.version)

    def _tidy(self, oldest: int) -> None:
        self._tables.expire(oldest)
        super()._tidy(oldest)
