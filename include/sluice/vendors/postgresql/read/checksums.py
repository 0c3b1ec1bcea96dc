"""Comparing ranges of keys by counts and checksums that both servers compute; only ranges that differ are read.

Both sides sort the key's column alike, so a range has the same rows on both. A range that differs is split while it is
large, and then read row by row. The checksum is the sum of two 64-bit hashes of each row's bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from psycopg import sql

from sluice.model.key_range import KeyInterval
from sluice.model.key_sample import PARTS, KeySample
from sluice.model.layout import Layout
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.definition import listed, regclass
from sluice.vendors.postgresql.read import row_bytes
from sluice.vendors.postgresql.read.key_range import among_ranges, keys
from sluice.vendors.postgresql.session import Connection, composed
from sluice.vendors.protocol.compare import Comparison, KeyColumnRange
from sluice.verify.difference import Difference, RowReader
from sluice.verify.merge_compare import compare

# Rows of a range that is not split any more, and the most parts of one.
LEAF_ROWS = 2_000
FAN_OUT = 512
# Rows, and ranges, that are read at once.
_READ_ROWS = 50_000
_READ_RANGES = 100
# Bytes of the answer for a range, about.
_ANSWER = 64


@dataclass(frozen=True)
class Part:
    """A range with what a side says of it: rows, two sums, bytes."""

    within: KeyColumnRange
    rows: tuple[int, int]
    bytes: int
    equal: bool


class ChecksumSide:
    """One side of a comparison: a session in its snapshot, and its columns.

    Args:
        layout: the columns under the names of this side, in the order of the view.
        sample: the keys that count.
        seeds: of the two hashes of a row.
        keys: only rows of these ranges; all if there is none.
    """

    def __init__(
        self,
        session: Connection,
        layout: Layout,
        sample: KeySample,
        seeds: tuple[int, int],
        keys: Sequence[KeyInterval] = (),
    ) -> None:
        self.session = session
        self._names = [column.name for column in layout.columns]
        self._key = [self._names[index] for index in layout.key]
        self._table = layout.name
        self._rows = relations.rows_of(session, layout.name)
        self._sampled = sampled(sample)
        self._seeds = seeds
        self._keys = among_ranges(self._key, keys)
        self._image: sql.Composable | None = None
        self._types: dict[str, tuple[str | None, bool]] = {}

    def sorting(self, column: int) -> str | None:
        """A text that identifies how a column is sorted, on any server; None if nobody knows.

        Also if a row may have no value there: NULL is in no range.
        """
        if not self._described()[self._names[column]][1]:
            return None
        return relations.sorting(self.session, self._table, [self._names[column]])[0]

    def types(self) -> list[str | None]:
        """The names of the columns' types, as far as they are the server's own."""
        return [self._described()[name][0] for name in self._names]

    def write_as(self, forms: Sequence[str]) -> None:
        """Hash the bytes of rows that these functions make; see `row_bytes.forms`."""
        self._image = row_bytes.image(self._names, forms)

    def checksums(self, within: KeyColumnRange) -> dict[int, tuple[int, int, int, int]]:
        """Rows, two sums and bytes of each part of a range that has rows."""
        assert self._image is not None
        asked = composed(
            "read/compare/checksums",
            bucket=self._bucket(within),
            image=self._image,
            key=listed(self._key),
            rows=self._rows,
            within=self.between(within),
            **self._sampled,
            one=sql.Literal(self._seeds[0]),
            other=sql.Literal(self._seeds[1]),
        )
        return {bucket: found for bucket, *found in self.session.execute(asked)}  # type: ignore[misc]

    def split(self, within: KeyColumnRange, step: int) -> tuple[str, ...]:
        """Values that cut a range into parts of about so many rows; none if it has one value."""
        column = sql.Identifier(self._names[within.column])
        asked = composed(
            "read/compare/split",
            column=column,
            rows=self._rows,
            within=self.between(within),
            step=sql.Literal(step),
        )
        return tuple(value for (value,) in keys(self.session.execute(asked)) if value != within.low)

    def between(self, within: KeyColumnRange) -> sql.Composable:
        """The condition for the rows of a range."""
        column = sql.Identifier(self._names[within.column])
        asked = [
            sql.SQL("{} {} {}").format(column, sql.SQL(compared), sql.Literal(bound))
            for compared, bound in ((">=", within.low), ("<", within.high))
            if bound is not None
        ]
        return sql.SQL(" AND ").join([*asked, self._keys])

    def lines(self, parts: Sequence[KeyColumnRange]) -> sql.Composed:
        """The COPY of the rows of some ranges, sorted for a merge."""
        within = sql.SQL(" OR ").join(sql.SQL("({})").format(self.between(one)) for one in parts)
        return composed(
            "read/compare/rows",
            key=listed(self._key),
            columns=listed(self._names),
            rows=self._rows,
            within=within,
            **self._sampled,
        )

    def _bucket(self, within: KeyColumnRange) -> sql.Composable:
        if not within.cuts:
            return sql.SQL("0")
        values = sql.SQL(", ").join(map(sql.Literal, within.cuts))
        kind = sql.Identifier("pg_catalog", self.type_of(within.column))
        column = sql.Identifier(self._names[within.column])
        return sql.SQL("width_bucket({0}::{1}, ARRAY[{2}]::{1}[])").format(column, kind, values)

    def type_of(self, column: int) -> str:
        """The name of the type of the column of ranges, which is in `pg_catalog`."""
        found = self._described()[self._names[column]][0]
        assert found is not None
        return found

    def _described(self) -> Mapping[str, tuple[str | None, bool]]:
        """The type of each column, and whether it has a value in every row."""
        if not self._types:
            found = self.session.execute(composed("read/compare/column_types"), {"relation": regclass(self._table)})
            self._types = {name: (kind, has_values) for name, kind, has_values in found}
        return self._types


def sampled(sample: KeySample) -> Mapping[str, sql.Literal]:
    """The parts of a statement that choose the rows of a sample."""
    parts = {"all": sample.whole, "seed": sample.seed, "parts": sample.parts, "of": PARTS}
    return {name: sql.Literal(value) for name, value in parts.items()}


def ranged_column(job: Comparison, master: ChecksumSide, replica: ChecksumSide) -> int | None:
    """The column by which both sides can be compared in ranges: the first one of the key; None if they sort it
    otherwise, or nobody knows how.
    """
    if not job.checksums or job.view.is_shaped or not job.view.layout.key:
        return None
    column = job.view.layout.key[0]
    ours = master.sorting(column)
    return column if ours is not None and ours == replica.sorting(column) else None


def compare_ranges(
    within: KeyColumnRange, master: ChecksumSide, replica: ChecksumSide, reader: RowReader
) -> Difference:
    """Compare all rows of a range."""
    found = Difference()
    made_by = row_bytes.forms(master.types(), replica.types())
    master.write_as(made_by)
    replica.write_as(made_by)
    with ThreadPoolExecutor(1) as beside:
        for some in _batches(_different(within, master, replica, beside, found, top=True)):
            ranges, before = [one.within for one in some], found.more
            ours, theirs = master.lines(ranges), replica.lines(ranges)
            with master.session.cursor().copy(ours) as one, replica.session.cursor().copy(theirs) as other:
                compare(map(bytes, one), map(bytes, other), reader, found)
            if found.more > before:
                low, high = ranges[0].low, ranges[-1].high
                found.note_range((None if low is None else (low,), None if high is None else (high,)))
    return found


def _different(
    within: KeyColumnRange,
    master: ChecksumSide,
    replica: ChecksumSide,
    beside: ThreadPoolExecutor,
    found: Difference,
    *,
    top: bool,
) -> Iterator[Part]:
    """The smallest ranges that differ, in order; equal ones are counted."""
    for part in _parts(within, master, replica, beside, found, top=top):
        larger = max(part.rows)
        if part.equal:
            found.compared += larger
        elif larger <= 2 * LEAF_ROWS or not min(part.rows):
            yield part
        else:
            # Not every value of the slave's is one of a narrower type of the master's.
            alike = master.type_of(within.column) == replica.type_of(within.column)
            side = replica if alike and part.rows[1] > part.rows[0] else master
            cuts = side.split(part.within, max(LEAF_ROWS, larger // FAN_OUT))
            if cuts:
                split = KeyColumnRange(within.column, part.within.low, part.within.high, cuts)
                yield from _different(split, master, replica, beside, found, top=False)
            else:
                yield part


def _parts(
    within: KeyColumnRange,
    master: ChecksumSide,
    replica: ChecksumSide,
    beside: ThreadPoolExecutor,
    found: Difference,
    *,
    top: bool,
) -> Iterator[Part]:
    theirs_later = beside.submit(replica.checksums, within)
    ours = master.checksums(within)
    theirs = theirs_later.result()
    bounds = [within.low, *within.cuts, within.high]
    none = (0, 0, 0, 0)
    found.moved += _ANSWER * (len(ours) + len(theirs))
    for bucket in sorted(ours.keys() | theirs.keys()):
        one, other = ours.get(bucket, none), theirs.get(bucket, none)
        if top:
            found.size += one[3] + other[3]
        part = KeyColumnRange(within.column, bounds[bucket], bounds[bucket + 1])
        yield Part(part, (one[0], other[0]), one[3] + other[3], one == other)


def _batches(parts: Iterator[Part]) -> Iterator[list[Part]]:
    some: list[Part] = []
    for part in parts:
        if some and (sum(sum(one.rows) for one in some) + sum(part.rows) > _READ_ROWS or len(some) >= _READ_RANGES):
            yield some
            some = []
        some.append(part)
    if some:
        yield some
