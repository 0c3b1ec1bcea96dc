"""The keys of the rows that the change log has changes of, from one position to another."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.changelog.manifest import Manifest, Segment
from sluice.changelog.schema import NO_LAYOUT
from sluice.changelog.segment_files import SegmentFiles
from sluice.errors import LogTrimmed, SluiceError
from sluice.model.action import COMMANDS, Action
from sluice.model.layout import Layout
from sluice.model.log_place import LogPlace
from sluice.model.names import TableName
from sluice.model.position import START, Position

# Keys that are kept of a table, and of all; comparing all rows costs no more than looking for so many.
MOST_OF_A_TABLE = 100_000
MOST = 500_000

LogKey = tuple[str, ...]


class ChangedKeys:
    """Keys by the layouts that their rows were written under.

    Args:
        after: the position before the first of these changes.
        tables: those to look at, as they are called now.
        known: all that are watched, as they are called now.

    Attributes:
        after: see above.
        end: up to where the log was read.
    """

    def __init__(
        self,
        manifest: Manifest,
        files: SegmentFiles,
        after: Position,
        tables: Collection[TableName],
        known: Collection[TableName],
    ) -> None:
        self._manifest = manifest
        self._files = files
        self._tables = set(tables)
        self._known = set(known)
        # By layout: another table may have taken the name, and gone with it.
        self._gone: dict[int, bool] = {}
        self._layouts: dict[int, Layout] = {}
        self._keys: dict[int, set[LogKey]] = {}
        self._whole: dict[TableName, str] = {}
        self._all_whole = ""
        self._incarnation: str | None = None
        self.after = self.end = after

    def read_to(self, end: Position) -> None:
        """Read on.

        Raises:
            LogTrimmed: SLC-620, the log was trimmed meanwhile.
            SluiceError: as `SegmentFiles.read` does.
        """
        if self._incarnation is None:
            self._incarnation = next(
                (segment.incarnation for segment in self._manifest.kept_segments() if segment.end == self.after), None
            )
        for segment in expect_kept(self._manifest, self.end, end):
            if self._incarnation not in (None, segment.incarnation):
                self._all_whole = "the source was restored or failed over since"
            self._incarnation = segment.incarnation
            try:
                for batch in self._files.read(segment.file, self.end.ordinal):
                    self._add(batch.filter(pc.greater(batch.column("ordinal"), self.end.ordinal)))
            except SluiceError:
                # A file that goes after its segment was trimmed is no damage.
                expect_kept(self._manifest, self.end, end)
                raise
            self.end = segment.end

    def find(self, now: Layout) -> set[LogKey] | str:
        """Return the keys of a table, in the order of its primary key, or why all of its rows have to be compared.

        Args:
            now: the table as it is at the end.
        """
        if why := self._all_whole or self._whole.get(now.name):
            return why
        if (renamed := next((number for number, dropped in self._gone.items() if not dropped), None)) is not None:
            # Its rows may be those of any table by now.
            name = self._layouts[renamed].name
            return f"{name} was changed since, and is called otherwise now, or is not watched any more"
        keys_of_table: set[LogKey] = set()
        for number, keys in self._keys.items():
            layout = self._layouts[number]
            if layout.name == now.name:
                if _shape(layout) != _shape(now):
                    return "its definition was another one since"
                keys_of_table |= keys
        return keys_of_table

    def _add(self, batch: pa.RecordBatch) -> None:
        numbers = batch.column("layout").to_numpy()
        self._learn(numbers)
        for number in np.unique(numbers).tolist():
            mine = batch.filter(pa.array(numbers == number))
            mine = mine.filter(pc.not_equal(mine.column("action"), Action.COMMIT))
            layout = self._layouts.get(number)
            if layout is None:
                if len(mine):
                    self._all_whole = "a statement was executed on all nodes since"
            elif layout.name not in self._known:
                # Commands stand behind the changes before them: a drop is the last of a transaction's.
                actions = mine.column("action")
                if len(mine):
                    self._gone[number] = actions[-1].as_py() == Action.DROP
            elif layout.name in self._tables and layout.name not in self._whole and (why := self._take(layout, mine)):
                self._whole[layout.name] = why
                for old in [number for number in self._keys if self._layouts[number].name == layout.name]:
                    del self._keys[old]

    def _take(self, layout: Layout, changes: pa.RecordBatch) -> str:
        """Take the keys of changes of one layout. Return the reason if the changes do not tell their rows, else ""."""
        actions = changes.column("action")
        kinds = set(pc.unique(actions).to_pylist())
        if kinds & COMMANDS:
            return "it was created, altered or dropped since"
        if Action.TRUNCATE in kinds:
            return "it was emptied since (TRUNCATE)"
        # Also without a change that has a key: another layout was in use.
        keys = self._keys.setdefault(layout.id, set())
        if not layout.key:
            return ""
        news, olds = changes.column("new"), changes.column("old")
        unknown = pc.and_(news.is_null(), olds.is_null())
        if not layout.tells_by_key:
            # Elsewhere an update without its old image has left the key as it was.
            unknown = pc.or_(unknown, pc.and_(pc.equal(actions, Action.UPDATE), olds.is_null()))
        if pc.any(unknown).as_py():
            return "the log does not say of a change which row it was"
        for side in (news, olds):
            rows = side.filter(side.is_valid())
            keys.update(zip(*(pc.list_element(rows, index).to_pylist() for index in layout.key), strict=True))
        if any(None in key for key in keys):
            return "the log does not have all of a key"
        if len(keys) > MOST_OF_A_TABLE or sum(map(len, self._keys.values())) > MOST:
            return "so many of its rows were changed since"
        return ""

    def _learn(self, numbers: np.ndarray) -> None:
        if unknown := set(np.unique(numbers).tolist()) - self._layouts.keys() - {NO_LAYOUT}:
            self._layouts |= self._manifest.layouts(unknown)


def position(manifest: Manifest, place: LogPlace) -> Position:
    """The position behind which the changes of a place begin.

    Raises:
        SluiceError: SLC-620, the log has no such place.
        LogTrimmed: SLC-620, it has it no longer.
    """
    end = manifest.end()
    if place.position is not None:
        start = place.position
        if start.ordinal > end.ordinal or start.segment > end.segment:
            raise no_place(f"{start} is beyond the end of the log, {end}")
        for segment in manifest.since(start.segment, 1):
            if (
                segment.number == start.segment
                and not segment.first_ordinal - 1 <= start.ordinal <= segment.last_ordinal
            ):
                raise no_place(f"{start} is no position: that segment ends at {segment.end}")
    elif place.segment is not None:
        if not 0 < place.segment <= end.segment:
            raise no_place(f"there is no segment {place.segment}: the log ends at {end}")
        start = _before(manifest.beyond(place.segment - 1)[0])
    else:
        assert place.at is not None
        if place.at > datetime.now(UTC):
            raise no_place(f"{place.at.isoformat()} is still to come")
        later = manifest.published_since(place.at)
        start = _before(later) if later else end
    expect_kept(manifest, start, end)
    return start


def expect_kept(manifest: Manifest, after: Position, end: Position) -> list[Segment]:
    """The segments with what is behind one position, up to another. Raises LogTrimmed SLC-620, some were trimmed."""
    kept = sorted(manifest.kept_segments(), key=lambda segment: segment.number)
    needed = [segment for segment in kept if segment.last_ordinal > after.ordinal and segment.number <= end.segment]
    have = after.ordinal
    for segment in needed:
        if segment.first_ordinal > have + 1:
            break
        have = segment.last_ordinal
    if have < end.ordinal:
        oldest = _before(kept[0]) if kept else end
        raise LogTrimmed(
            620,
            f"the change log does not go back to {after} any more; the oldest position that it has is {oldest}",
            f"nothing was compared; trigger verify with `since` as {oldest} or later, or without it: then all rows are "
            "compared",
        )
    return needed


def no_place(why: str) -> SluiceError:
    """Something is no place in the log whose changes could be compared."""
    return SluiceError(
        620,
        f"rows changed since then cannot be compared: {why}",
        "nothing was compared; trigger verify with `since` as a position (41/8), a segment (42) or a time "
        "(2026-01-31T22:00Z), and without `sample`, `at_most` and `ranges`",
    )


def _before(segment: Segment) -> Position:
    return Position(segment.number - 1, segment.first_ordinal - 1) if segment.first_ordinal > 1 else START


def _shape(layout: Layout) -> object:
    return [(column.name, column.type) for column in layout.columns], layout.key_names
