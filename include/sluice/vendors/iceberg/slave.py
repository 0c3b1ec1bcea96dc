"""A slave of files whose versions are told to Iceberg, one after the other.

The version is the truth: it has the data, the position and the fence. What Iceberg lists follows it, and is brought up
to it by whoever takes over if somebody died between the two.
"""

from __future__ import annotations

from collections.abc import Collection

from sluice.apply.mapper import Mapper
from sluice.connections import ConnectionInfo
from sluice.model.names import Pair, Resources
from sluice.model.position import Position, Snapshot
from sluice.vendors.iceberg.tables import IcebergTables
from sluice.vendors.parquet.kinds import Kind
from sluice.vendors.parquet.place import reachable
from sluice.vendors.parquet.slave import ParquetSlave
from sluice.vendors.parquet.versions import Table, Version


class IcebergSlave(ParquetSlave):
    """See `sluice.vendors.protocol.SlaveDatabase`."""

    def __init__(
        self,
        kind: Kind,
        info: ConnectionInfo,
        pair: Pair,
        schema: str,
        mapper: Mapper,
        masters: Collection[Resources] = (),
    ) -> None:
        super().__init__(kind, info, pair, schema, mapper, masters)
        self._tables = IcebergTables(self.place)

    def take_over(self, epoch: int) -> tuple[Position, Snapshot | None]:
        """Raise the fence. What somebody who died has committed and not told is told before."""
        with reachable(f"taking over {self.pair}"):
            late = self.versions.current()
            if self._tables.tell(late):
                self.versions.renew(late)
        return super().take_over(epoch)

    def admit(self, table: Table) -> None:
        """Look whether Iceberg can have a table of these columns.

        Raises:
            SluiceError: SLC-198, it cannot, or not beside the rows that stay.
        """
        beside = self.kind.lasting and self.version.keeps == self.kind.name
        with reachable(f"looking at {table.name}"):
            self._tables.admit(table.name, self.kind.schema(table.kept), beside=beside)

    def _become(self, after: Version) -> None:
        super()._become(after)
        with reachable(f"telling Iceberg of version {self.version.number}"):
            self._tables.tell(self.version)

    def _tidy(self, oldest: int) -> None:
        self._tables.expire(oldest)
        super()._tidy(oldest)
