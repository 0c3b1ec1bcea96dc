"""Digests of a master's rows which other kinds of databases compute alike; see `sluice.vendors.protocol.digests`.

The server adds up the rows of a session's snapshot. What came and went since the place that is asked for is in the log:
the digests of these rows are computed here, and taken off and added.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from sluice.connections import ConnectionInfo
from sluice.model.names import TableName
from sluice.values.copy_text import columns_of
from sluice.vendors.mariadb.errors import translated
from sluice.vendors.mariadb.master_types import BINARIES, INTEGERS, WITHOUT_ZEROS, MasterColumn
from sluice.vendors.mariadb.read.digests import BYTES, SECONDS, WITH_ZONE, Written, WrittenTable, bucket_sums
from sluice.vendors.mariadb.read.rows import ChangedTable, reading
from sluice.vendors.mariadb.session import composed, execute, quoted
from sluice.vendors.protocol.digests import BucketSum, Digested, Texts

_NONE = BucketSum(0, (0, 0))
# The bytes of these texts are others in the character set of a column.
_TEXTS = frozenset(("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "json"))
_AS_PRINTED = frozenset(("decimal", "date"))


def master_column(one: MasterColumn) -> Written | None:
    """A column of a master; None if the server cannot write its canonical text."""
    name = quoted(one.name)
    if one.kind in _TEXTS:
        return Written(name, f"CONVERT({name} USING utf8mb4)", plain=False, may_fail=True)
    if one.kind in INTEGERS or one.kind == "year" or (one.kind == "decimal" and one.is_filled_up):
        return Written(name, WITHOUT_ZEROS.format(name), plain=True)
    if one.kind in _AS_PRINTED:
        return Written(name, name, plain=True)
    if one.kind == "uuid":
        # Where it stands beside '', that would become one.
        return Written(name, f"CAST({name} AS CHAR)", plain=True)
    if one.kind in ("datetime", "timestamp", "time"):
        text = SECONDS.format(name) if one.digits else name
        return Written(name, WITH_ZONE.format(text) if one.kind == "timestamp" else text, plain=True)
    if one.kind in BINARIES:
        return Written(name, BYTES.format(name), plain=True, may_fail=True)
    return None


class MariaMasterDigests:
    """See `sluice.vendors.protocol.digests.DigestSide`."""

    def __init__(self, found: ChangedTable) -> None:
        self._found = found
        self._table = WrittenTable.of(found.table.name, [master_column(one) for one in found.columns])

    @property
    def plain(self) -> Sequence[bool] | None:
        """See there."""
        return self._table.plain

    def sums(self, how: Digested) -> tuple[Mapping[str, BucketSum], int]:
        """See there."""
        name, session = self._table.name, self._found.session
        with translated(f"comparing {name}"):
            sums = bucket_sums(execute(session, self._table.sums(how)))
            kind = execute(session, composed("catalog/kind"), {"schema": name.schema, "table": name.table})
        for rows, sign in ((self._found.came, -1), (self._found.went, 1)):
            for row, times in rows.items():
                bucket = how.bucket(row)
                sums[bucket] = sums.get(bucket, _NONE) + how.sum(row, sign * times)
        size = sum(int(bytes_) for _, _, bytes_ in kind)
        return {bucket: one for bucket, one in sums.items() if one != _NONE}, size

    def rows(self, how: Digested, buckets: Collection[str]) -> Texts:
        """See there."""
        wanted = set(buckets)
        for buffer in self._found.rows(self._table.among(how, wanted), lambda row: how.bucket(row) in wanted):
            yield columns_of(buffer, len(self._found.columns))


@contextmanager
def digests(
    info: ConnectionInfo, snapshot_id: str, trusted: Collection[str], name: TableName, columns: Sequence[str]
) -> Iterator[MariaMasterDigests]:
    """A table of a master with these columns, as it was at a place of the log."""
    with reading(info, snapshot_id, trusted) as rows:
        yield MariaMasterDigests(rows.changed(name, columns))
