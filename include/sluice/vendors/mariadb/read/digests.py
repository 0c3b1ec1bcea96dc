"""Digests of rows which other kinds of databases compute alike; see `sluice.vendors.protocol.digests`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from secrets import randbits

from sluice.model.key_sample import SEED_BITS
from sluice.model.names import TableName
from sluice.vendors.mariadb.catalog.tables import SlaveTable
from sluice.vendors.mariadb.session import Row, composed, qualified, quoted
from sluice.vendors.mariadb.types import Form, Stored
from sluice.vendors.protocol.digests import BUCKET_DIGITS, BucketSum, Digested, Texts

# The text of a time with digits behind its seconds, of which the server prints all.
SECONDS = "TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM {0}))"
WITH_ZONE = "CONCAT({0}, '+00')"
BYTES = r"CONCAT('\\x', LOWER(HEX({0})))"
# The canonical texts of values of a slave; those of floats are others.
_CANONICAL: Mapping[Form, str] = {
    Form.TEXT: "{0}",
    Form.BOOLEAN: "IF({0} IS NULL, NULL, IF({0} = 0, 'f', 't'))",
    Form.NUMBER: "{0}",
    Form.BYTES: BYTES,
    Form.DATE: "{0}",
    Form.TIME: SECONDS,
    Form.TIMESTAMP: SECONDS,
    Form.TIMESTAMP_WITH_ZONE: WITH_ZONE.format(SECONDS),
}


@dataclass(frozen=True)
class Written:
    """A column, as it is written to be hashed.

    Attributes:
        column: its name, quoted.
        text: the expression for its canonical text, as far as `CONCAT` does not write it so by itself; NULL where the
            value is.
        plain: its texts are never empty, and have no comma.
        may_fail: a text may be longer than the server makes one, and then is NULL, too. Bytes must not be taken for no
            bytes.
    """

    column: str
    text: str
    plain: bool
    may_fail: bool = False

    def parts(self, *, plain: bool) -> str:
        """Arguments for `CONCAT`, which gives NULL if one of them is."""
        or_nothing = "IF({0} IS NULL, '', {1})" if self.may_fail else "IFNULL({1}, '')"
        shown = or_nothing.format(self.column, self.text)
        if plain:
            return f"{shown}, ','"
        return f"{or_nothing.format(self.column, f'OCTET_LENGTH({self.text})')}, ':', {shown}"


def slave_column(one: Stored) -> Written | None:
    """A column of a slave; None if the server cannot write its canonical text."""
    name, text = quoted(one.column.name), _CANONICAL.get(one.form)
    return Written(name, text.format(name), one.form is not Form.TEXT, one.form is Form.BYTES) if text else None


@dataclass(frozen=True)
class WrittenTable:
    """A table with the columns that are compared; None instead of them if the server cannot write one."""

    name: TableName
    columns: tuple[Written, ...] | None

    @classmethod
    def of(cls, name: TableName, columns: Sequence[Written | None]) -> WrittenTable:
        """A table with what is known of its columns."""
        known = tuple(one for one in columns if one)
        return cls(name, known if len(known) == len(columns) else None)

    @property
    def plain(self) -> Sequence[bool] | None:
        """See `DigestSide`."""
        return None if self.columns is None else [one.plain for one in self.columns]

    def sums(self, how: Digested) -> str:
        """The statement for the sums of buckets."""
        hashed = self._hashed(how, range(len(self.columns or ())))
        unknown, other = (str(randbits(SEED_BITS)) for _ in range(2))
        return composed(
            "read/sums",
            bucket=self._bucket(how),
            hash=hashed,
            table=qualified(self.name),
            unknown=unknown,
            other_unknown=other,
        )

    def among(self, how: Digested, buckets: Collection[str]) -> str:
        """The condition for rows of some buckets."""
        wanted = ", ".join(f"'{int(one, 16):0{BUCKET_DIGITS}x}'" for one in sorted(buckets))
        return f"{self._bucket(how)} IN ({wanted})"

    def _bucket(self, how: Digested) -> str:
        # A row without a key may be too long to be written, and then is not where the other side has it: both are read.
        return f"IFNULL(LEFT({self._hashed(how, how.key)}, {BUCKET_DIGITS}), '{0:0{BUCKET_DIGITS}}')"

    def _hashed(self, how: Digested, places: Sequence[int]) -> str:
        columns = self.columns or ()
        written = ", ".join(columns[place].parts(plain=how.plain[place]) for place in places)
        return f"SHA2(CONCAT('{int(how.salt, 16):0{len(how.salt)}x}', {written}), 256)"


class MariaDigests:
    """A slave; see `sluice.vendors.protocol.digests.DigestSide`.

    Args:
        answer: the rows of a statement in a transaction while which the slave stands at the point.
        read: rows as canonical texts; of those for which a condition holds.
    """

    def __init__(self, table: SlaveTable, answer: Callable[[str], list[Row]], read: Callable[[str], Texts]) -> None:
        self._table = WrittenTable.of(table.name, [slave_column(one) for one in table.columns])
        self._answer = answer
        self._read = read

    @property
    def plain(self) -> Sequence[bool] | None:
        """See there."""
        return self._table.plain

    def sums(self, how: Digested) -> tuple[Mapping[str, BucketSum], int]:
        """See there."""
        return bucket_sums(self._answer(self._table.sums(how))), 0

    def rows(self, how: Digested, buckets: Collection[str]) -> Texts:
        """See there."""
        return self._read(self._table.among(how, buckets))


def bucket_sums(found: Sequence[Row]) -> dict[str, BucketSum]:
    """What the server says of each bucket."""
    return {str(name): BucketSum.of(*sums) for name, *sums in found}
