"""Digests of a slave's rows which other kinds of databases compute alike; see `sluice.vendors.protocol.digests`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from sluice.vendors.mariadb.catalog.tables import SlaveTable
from sluice.vendors.mariadb.session import Row, composed, qualified, quoted
from sluice.vendors.mariadb.types import Form, Stored
from sluice.vendors.protocol.digests import BUCKET_DIGITS, BucketSum, Digested, Texts

# The canonical texts of values, as expressions: NULL where these are, and as far as `CONCAT` does not write them so by
# itself. The server prints six digits of a second; the texts of floats are others.
_SECONDS = "TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM {0}))"
_CANONICAL: Mapping[Form, str] = {
    Form.TEXT: "{0}",
    Form.BOOLEAN: "IF({0} IS NULL, NULL, IF({0} = 0, 'f', 't'))",
    Form.NUMBER: "{0}",
    Form.BYTES: r"CONCAT('\\x', LOWER(HEX({0})))",
    Form.DATE: "{0}",
    Form.TIME: _SECONDS,
    Form.TIMESTAMP: _SECONDS,
    Form.TIMESTAMP_WITH_ZONE: f"CONCAT({_SECONDS}, '+00')",
}


class MariaDigests:
    """See `sluice.vendors.protocol.digests.DigestSide`.

    Args:
        answer: the rows of a statement in a transaction while which the slave stands at the point.
        read: rows as canonical texts; of those for which a condition holds.
    """

    def __init__(self, table: SlaveTable, answer: Callable[[str], list[Row]], read: Callable[[str], Texts]) -> None:
        self._table = table
        self._answer = answer
        self._read = read

    @property
    def plain(self) -> Sequence[bool] | None:
        """See there."""
        forms = [one.form for one in self._table.columns]
        return [one is not Form.TEXT for one in forms] if all(one in _CANONICAL for one in forms) else None

    def sums(self, how: Digested) -> tuple[Mapping[str, BucketSum], int]:
        """See there."""
        found = self._answer(
            composed(
                "read/sums",
                bucket=self._bucket(how),
                hash=_hashed(how, self._written(range(len(self._table.columns)), how)),
                table=qualified(self._table.name),
            )
        )
        return {str(name): BucketSum.of(*sums) for name, *sums in found}, 0

    def rows(self, how: Digested, buckets: Collection[str]) -> Texts:
        """See there."""
        wanted = ", ".join(f"'{int(one, 16):0{BUCKET_DIGITS}x}'" for one in sorted(buckets))
        return self._read(f"{self._bucket(how)} IN ({wanted})")

    def _bucket(self, how: Digested) -> str:
        return f"LEFT({_hashed(how, self._written(how.key, how))}, {BUCKET_DIGITS})"

    def _written(self, places: Sequence[int], how: Digested) -> list[str]:
        return [_framed(self._table.columns[place], plain=how.plain[place]) for place in places]


def _hashed(how: Digested, parts: Sequence[str]) -> str:
    return f"SHA2(CONCAT('{int(how.salt, 16):0{len(how.salt)}x}', {', '.join(parts)}), 256)"


def _framed(column: Stored, *, plain: bool) -> str:
    """Arguments for `CONCAT`, which gives NULL if one of them is."""
    name = quoted(column.column.name)
    text = _CANONICAL[column.form].format(name)
    # The text of bytes may be longer than the server makes one, and is NULL then. Bytes must not be taken for no bytes.
    or_nothing = "IF({0} IS NULL, '', {1})" if column.form is Form.BYTES else "IFNULL({1}, '')"
    shown = or_nothing.format(name, text)
    return f"{shown}, ','" if plain else f"{or_nothing.format(name, f'OCTET_LENGTH({text})')}, ':', {shown}"
