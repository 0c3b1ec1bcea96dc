"""Digests of a master's rows which other kinds of databases compute alike; see `sluice.vendors.protocol.digests`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.model.names import TableName
from sluice.values.copy_text import columns_of
from sluice.vendors.postgresql.read.rows import PostgresReading, reading
from sluice.vendors.postgresql.session import composed
from sluice.vendors.protocol.digests import BUCKET_DIGITS, BucketSum, Digested, Texts

# Types of the server's own whose texts are never empty, and have no comma.
_PLAIN = frozenset(
    ("bool", "int2", "int4", "int8", "numeric", "date", "time", "timestamp", "timestamptz", "uuid", "bytea")
)
# Those whose values are texts already.
_TEXTS = frozenset(("text", "varchar"))
# Of a function of the server.
_MOST_ARGUMENTS = 96


class PostgresDigests:
    """See `sluice.vendors.protocol.digests.DigestSide`."""

    def __init__(self, reading: PostgresReading, name: TableName, columns: Sequence[str]) -> None:
        self._reading = reading
        self._name = name
        self._columns = columns
        self._types = reading.types(name)

    @property
    def plain(self) -> Sequence[bool] | None:
        """See there. A server of another encoding counts other bytes."""
        if not self._reading.is_utf8:
            return None
        return [self._types.get(one) in _PLAIN for one in self._columns]

    def sums(self, how: Digested) -> tuple[Mapping[str, BucketSum], int]:
        """See there."""
        every = range(len(self._columns))
        found = self._reading.asked(
            self._name,
            lambda rows: composed(
                "read/digests/sums",
                bucket=self._bucket(how),
                salt=sql.Literal(how.salt),
                image=self._written(every, how),
                rows=rows,
            ),
        )
        return {name: BucketSum.of(*sums) for name, *sums, _ in found}, sum(int(one[-1]) for one in found)

    def rows(self, how: Digested, buckets: Collection[str]) -> Texts:
        """See there."""
        wanted = sql.SQL(", ").join(map(sql.Literal, sorted(buckets)))
        within = sql.SQL("{} IN ({})").format(self._bucket(how), wanted)
        for buffer in self._reading.within(self._name, self._columns, within):
            yield columns_of(buffer, len(self._columns))

    def _bucket(self, how: Digested) -> sql.Composable:
        key = sql.SQL("concat({}, {})").format(sql.Literal(how.salt), self._written(how.key, how))
        hashed = sql.SQL("encode(sha256(convert_to({}, 'UTF8')), 'hex')").format(key)
        return sql.SQL("left({}, {})").format(hashed, sql.Literal(BUCKET_DIGITS))

    def _written(self, places: Sequence[int], how: Digested) -> sql.Composable:
        parts = [one for place in places for one in self._parts(self._columns[place], plain=how.plain[place])]
        some = [parts[at : at + _MOST_ARGUMENTS] for at in range(0, len(parts), _MOST_ARGUMENTS)]
        return sql.SQL(", ").join(sql.SQL("concat({})").format(sql.SQL(", ").join(one)) for one in some)

    def _parts(self, name: str, *, plain: bool) -> list[sql.Composable]:
        """What `concat` puts together, by the types' own functions, and by no cast that somebody made."""
        column = sql.Identifier(name)
        if plain:
            return [column, sql.SQL("','")]
        if self._types.get(name) in _TEXTS:
            return [sql.SQL("octet_length({})").format(column), sql.SQL("':'"), column]
        framed = "CASE num_nulls({0}) WHEN 0 THEN concat(octet_length(concat({0})), ':', {0}) ELSE ':' END"
        return [sql.SQL(framed).format(column)]


@contextmanager
def digests(
    info: ConnectionInfo, snapshot_id: str, trusted: Collection[str], name: TableName, columns: Sequence[str]
) -> Iterator[PostgresDigests]:
    """A table of a master with these columns, as an exported snapshot shows it."""
    with reading(info, snapshot_id, trusted) as rows:
        yield PostgresDigests(rows, name, columns)
