"""Parts of a table whose primary key is one whole number: rows with keys between two numbers.

The address of a row is its key, counted from the smallest one that the table had when it was cut. The first part has
all smaller keys, too, and the last one all larger keys. So each row of whichever snapshot is in one part alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sluice.vendors.mariadb.catalog.master_tables import MasterTable
from sluice.vendors.mariadb.master_types import INTEGERS
from sluice.vendors.mariadb.session import Sql, quoted
from sluice.vendors.protocol.read import Chunk

_FROM = " from "


class KeyAltered(Exception):
    """A table has another key than when it was cut."""


@dataclass(frozen=True)
class KeyPart:
    """The keys of a part: from `low` to in front of `high`; without an end where that is None."""

    key: str
    low: int | None
    high: int | None

    @property
    def condition(self) -> Sql:
        """The condition of a SELECT."""
        key = quoted(self.key)
        ends = [f"{key} >= {self.low}"] * (self.low is not None) + [f"{key} < {self.high}"] * (self.high is not None)
        return Sql(" AND ".join(ends) or "TRUE")

    def has(self, names: Sequence[str], image: Sequence[str | None]) -> bool:
        """Whether a row of the log is in it.

        Args:
            names: of the columns of the image.

        Raises:
            KeyAltered: it has no such key.
        """
        text = dict(zip(names, image, strict=True)).get(self.key)
        if text is None:
            raise KeyAltered
        number = int(text)
        return (self.low is None or number >= self.low) and (self.high is None or number < self.high)


def numbered_by(table: MasterTable) -> str | None:
    """The column by whose numbers a table can be cut."""
    if len(table.key) != 1 or (column := table.columns[table.key[0]]).kind not in INTEGERS:
        return None
    return column.name


def written_as(place: str, first: int) -> str:
    """What a leaf bears beside its extent: the place of the log, and the key whose address is 0."""
    return f"{place}{_FROM}{first}"


def part_of(chunk: Chunk, table: MasterTable) -> KeyPart | None:
    """The part that is a chunk; None for a whole table.

    Raises:
        KeyAltered: the table has another key by now.
    """
    if not chunk.low and chunk.high is None:
        return None
    key = numbered_by(table)
    if key is None:
        raise KeyAltered
    first = int(chunk.leaf.written_as.rpartition(_FROM)[2])
    return KeyPart(key, first + chunk.low if chunk.low else None, None if chunk.high is None else first + chunk.high)
