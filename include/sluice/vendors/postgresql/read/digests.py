"""Digests of a master's rows which other kinds of databases compute alike; see `sluice.vendors.protocol.digests`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from sluice.connections import ConnectionInfo
from sluice.model.names import TableName
from sluice.values.copy_text import columns_of
from sluice.vendors.postgresql.read.digested_columns import DigestedColumns, bucket_sums
from sluice.vendors.postgresql.read.rows import PostgresReading, reading
from sluice.vendors.protocol.digests import BucketSum, Digested, Texts


class PostgresDigests:
    """See `sluice.vendors.protocol.digests.DigestSide`."""

    def __init__(self, reading: PostgresReading, name: TableName, columns: Sequence[str]) -> None:
        self._reading = reading
        self._name = name
        self._columns = columns
        self._digested = DigestedColumns(columns, reading.types(name))

    @property
    def plain(self) -> Sequence[bool] | None:
        """See there. A server of another encoding counts other bytes."""
        return self._digested.plain if self._reading.is_utf8 else None

    def sums(self, how: Digested) -> tuple[Mapping[str, BucketSum], int]:
        """See there."""
        return bucket_sums(self._reading.asked(self._name, lambda rows: self._digested.sums(how, rows)))

    def rows(self, how: Digested, buckets: Collection[str]) -> Texts:
        """See there."""
        for buffer in self._reading.within(self._name, self._columns, self._digested.among(how, buckets)):
            yield columns_of(buffer, len(self._columns))


@contextmanager
def digests(
    info: ConnectionInfo, snapshot_id: str, trusted: Collection[str], name: TableName, columns: Sequence[str]
) -> Iterator[PostgresDigests]:
    """A table of a master with these columns, as an exported snapshot shows it."""
    with reading(info, snapshot_id, trusted) as rows:
        yield PostgresDigests(rows, name, columns)
