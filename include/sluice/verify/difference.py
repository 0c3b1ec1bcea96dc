"""The difference of two sides of a table: counts, and the rows themselves up to a limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from sluice.model.compared_points import ComparedPoint
from sluice.model.row_difference import RowDifference, Values
from sluice.model.sample_bound import SampleBound

SAMPLE = 20
# Characters of a value that is kept.
LONGEST = 200
# Ranges in which more rows differ than are kept.
MOST_RANGES = 100

# Leading values of keys, the first included and the last excluded; None: there is no bound.
Bounds = tuple[Values | None, Values | None]


@dataclass(frozen=True)
class Keeping:
    """The rows that a comparison keeps of a table.

    Attributes:
        most: the most rows.
        values: also their values on both sides, which are secret otherwise.
        extra: also rows that the slave alone has.
    """

    most: int = 0
    values: bool = False
    extra: bool = True


@dataclass(frozen=True)
class RowReader:
    """Reads keys and images of rows as a comparison has them.

    Attributes:
        columns: the names of the slave's columns, in the order of an image.
        keyed: whether rows have a key.
        split: the values of a key or of an image.
    """

    columns: tuple[str, ...]
    keyed: bool
    split: Callable[[bytes], Sequence[str | None]]
    keeping: Keeping

    def read(self, kind: str, key: bytes, ours: bytes | None, theirs: bytes | None) -> RowDifference:
        """One row with its images, as far as there are any."""
        values = [None if image is None else self.split(image) for image in (ours, theirs)]
        columns: tuple[str, ...] = ()
        if values[0] is not None and values[1] is not None:
            columns = tuple(
                name for name, ours, theirs in zip(self.columns, values[0], values[1], strict=True) if ours != theirs
            )
        shown = [None if values is None or not self.keeping.values else _shorten(values) for values in values]
        if self.keyed:
            named: Values = tuple(self.split(key))
        elif self.keeping.values:
            named = _shorten(self.split(key))
        else:
            named = (blake2b(key, digest_size=16).hexdigest(),)
        return RowDifference(kind, named, columns, *shown)


@dataclass
class Difference:
    """The result of the comparison of one table, or of one range of its keys.

    Attributes:
        sample: the first keys with what is wrong with them.
        own: rows that are on the slave alone, and may be.
        rows: the rows that differ, up to a limit.
        ranges: where rows differ that are not among `rows`.
        moved: bytes that were sent to the comparing task.
        size: bytes that both sides have.
        columns: the names of a row's values, if rows were read.
        bound: of the rows that differ in the whole table, by a sample of it.
        points: where the table's parts were compared, the oldest first.
        computed: the master's names of the columns in which alone rows differ, if the slave computes these itself.
    """

    compared: int = 0
    missing: int = 0
    extra: int = 0
    changed: int = 0
    sample: list[tuple[str, str]] = field(default_factory=list)
    own: int = 0
    rows: list[RowDifference] = field(default_factory=list)
    ranges: list[Bounds] = field(default_factory=list)
    moved: int = 0
    size: int = 0
    columns: list[str] = field(default_factory=list)
    bound: SampleBound | None = None
    points: list[ComparedPoint] = field(default_factory=list)
    computed: list[str] = field(default_factory=list)

    @property
    def different(self) -> int:
        """Rows that are not the same on both sides."""
        return self.missing + self.extra + self.changed

    @property
    def master_rows(self) -> int:
        """Rows that were compared, without rows that may be on the slave alone: these say nothing of the master's."""
        return self.compared - self.own

    @property
    def more(self) -> int:
        """Rows that differ and are not among `rows`."""
        return self.different - len(self.rows)

    @property
    def share_moved(self) -> float:
        """The share of both sides' data that was sent to a comparing task."""
        return min(1.0, self.moved / self.size) if self.size else 0.0

    def only_in(self, columns: Mapping[str, str]) -> list[str]:
        """The new names of the columns in which rows differ, if that is in these alone; empty otherwise.

        Args:
            columns: names of the slave's columns, each with the name to give.
        """
        differing = {name for row in self.rows for name in row.columns}
        if self.missing or self.extra or not differing <= columns.keys():
            return []
        return sorted(columns[name] for name in differing)

    def count_extra_as_own(self) -> Difference:
        """Count rows that only the slave has as its own, not as different."""
        sample = [entry for entry in self.sample if entry[0] != "extra"]
        rows = [row for row in self.rows if row.kind != "extra"]
        difference = replace(self, extra=0, own=self.own + self.extra, sample=sample, rows=rows)
        return difference if difference.more else replace(difference, ranges=[])

    def note(
        self,
        kind: str,
        key: bytes,
        reader: RowReader | None = None,
        ours: bytes | None = None,
        theirs: bytes | None = None,
        shown: bytes | None = None,
    ) -> None:
        """Count one difference and keep its row if there is room.

        Args:
            shown: the key as people read it, if that is another text.
        """
        setattr(self, kind, getattr(self, kind) + 1)
        if len(self.sample) < SAMPLE:
            self.sample.append((kind, (shown or key).decode(errors="replace")))
        if reader is None or len(self.rows) >= reader.keeping.most or (kind == "extra" and not reader.keeping.extra):
            return
        self.columns = self.columns or list(reader.columns)
        self.rows.append(reader.read(kind, key, ours, theirs))

    def note_range(self, bounds: Bounds) -> None:
        """Note a range in which rows differ that are not kept."""
        if self.ranges and (self.ranges[-1][1] == bounds[0] or len(self.ranges) >= MOST_RANGES):
            bounds = (self.ranges.pop()[0], bounds[1])
        self.ranges.append(bounds)

    def to_json(self) -> dict[str, Any]:
        """A plain form for messages; `from_json` reads it."""
        rows = [[row.kind, row.key, row.columns, row.ours, row.theirs] for row in self.rows]
        return {**vars(self), "rows": rows}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Difference:
        """Read what `to_json` gave."""
        rows = [
            RowDifference(kind, tuple(key), tuple(columns), _values(ours), _values(theirs))
            for kind, key, columns, ours, theirs in body["rows"]
        ]
        sample = [(kind, key) for kind, key in body["sample"]]
        ranges = [(_values(first), _values(until)) for first, until in body["ranges"]]
        return cls(**{**body, "rows": rows, "sample": sample, "ranges": ranges})


def join(parts: Iterable[tuple[Bounds, Difference]], most: int) -> Difference:
    """The difference of a table, of those of its ranges in the order of their keys.

    Args:
        most: the most rows that are kept.
    """
    whole = Difference()
    for bounds, part in parts:
        for name in ("compared", "missing", "extra", "changed", "own", "moved", "size"):
            setattr(whole, name, getattr(whole, name) + getattr(part, name))
        whole.columns = whole.columns or part.columns
        whole.sample += part.sample[: SAMPLE - len(whole.sample)]
        room = most - len(whole.rows)
        whole.rows += part.rows[:room]
        for outside in [bounds] if len(part.rows) > room else part.ranges:
            whole.note_range(outside)
    return whole


def _shorten(values: Sequence[str | None]) -> Values:
    return tuple(f"{value[:LONGEST]}…" if value is not None and len(value) > LONGEST else value for value in values)


def _values(values: Sequence[str | None] | None) -> Values | None:
    return None if values is None else tuple(values)
