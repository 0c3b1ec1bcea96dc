"""Statements for digests of rows that other kinds of databases compute alike; see `sluice.vendors.protocol.digests`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from psycopg import sql

from sluice.vendors.postgresql.session import composed
from sluice.vendors.protocol.digests import BUCKET_DIGITS, BucketSum, Digested

# Types of the server's own whose texts are never empty, and have no comma.
_PLAIN = frozenset(
    ("bool", "int2", "int4", "int8", "numeric", "date", "time", "timestamp", "timestamptz", "uuid", "bytea")
)
# Those whose values are texts already.
_TEXTS = frozenset(("text", "varchar"))
# Of a function of the server.
_MOST_ARGUMENTS = 96


class DigestedColumns:
    """Columns of a table that are compared.

    Args:
        columns: their names, in the order of the layout.
        types: of the table's columns by their names, as far as they are the server's own.
    """

    def __init__(self, columns: Sequence[str], types: Mapping[str, str | None]) -> None:
        self._columns = columns
        self._types = types

    @property
    def plain(self) -> list[bool]:
        """For each column whether its texts are never empty, and have no comma."""
        return [self._types.get(one) in _PLAIN for one in self._columns]

    def sums(self, how: Digested, rows: sql.Composable) -> sql.Composed:
        """The statement for the sums of buckets.

        Args:
            rows: stands for the rows of the table.
        """
        return composed(
            "read/digests/sums",
            bucket=self._bucket(how),
            salt=sql.Literal(how.salt),
            image=self._written(range(len(self._columns)), how),
            rows=rows,
        )

    def among(self, how: Digested, buckets: Collection[str]) -> sql.Composable:
        """The condition for rows of some buckets."""
        wanted = sql.SQL(", ").join(map(sql.Literal, sorted(buckets)))
        return sql.SQL("{} IN ({})").format(self._bucket(how), wanted)

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


def bucket_sums(found: Sequence[tuple[Any, ...]]) -> tuple[dict[str, BucketSum], int]:
    """What the server says of each bucket, and the bytes of all."""
    return {name: BucketSum.of(*sums) for name, *sums, _ in found}, sum(int(one[-1]) for one in found)
