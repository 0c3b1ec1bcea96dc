"""A source's change log as events of the relay.

The position of an event is one number of 64 bits: the segment's number in the upper half, and in the lower half how
many changes of the segment one has with it. So positions of a source are unique, and grow in the order of the log. A
cursor is such a number, too: all up to it was read; where a segment ends, it stands before the next one's first change.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice.changelog.manifest import Manifest, Segment
from sluice.changelog.segment_files import SegmentFiles
from sluice.errors import LogTrimmed
from sluice.log import event
from sluice.model.action import Action
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.table_definition import TableChange
from sluice.relay.frames import reply_frame
from sluice.relay.payloads import EventKind, add_numbers, event_body, event_head
from sluice.relay.value_bytes import as_bytes

KINDS = {
    Action.INSERT: EventKind.INSERT,
    Action.UPDATE: EventKind.UPDATE,
    Action.DELETE: EventKind.DELETE,
    Action.TRUNCATE: EventKind.TRUNCATE,
    Action.CREATE: EventKind.DDL,
    Action.ALTER: EventKind.DDL,
    Action.DROP: EventKind.DDL,
}
# What is read at a time.
_MOST_SEGMENTS = 16
_MOST_EVENTS = 5_000
_MOST_CHANGES = 200_000
_MOST_BYTES = 4 * 1024 * 1024
_AT_ONCE = 200
# Segments that are open where a slice ended within them: a copy on disk and a batch in memory each.
_MOST_OPEN = 2
# No reply can say that it has more.
_MOST_OF_ONE = 2**31
_OBJECT = 300
_ROW_BITS = 32

TableFilter = Callable[[TableName], bool]


@dataclass(frozen=True)
class PackedEvent:
    """An event as it is sent, shared by all clients that get it; without the length of a queue."""

    position: int
    kind: EventKind
    table: TableName
    body: bytes
    byte_sum: int

    @property
    def size(self) -> int:
        """The memory that it takes, about."""
        return len(self.body) + _OBJECT

    def payload(self, remaining: int) -> bytes:
        """The payload of a reply."""
        return event_head(self.kind, self.position, remaining) + self.body

    def reply(self, remaining: int, instance: int | None = None) -> bytes:
        """The frame of a reply; with the number of an instance, that to `Command.POLL_EVENT_V2`."""
        head = event_head(self.kind, self.position, remaining)
        if instance is None:
            return reply_frame(0, head + self.body, sum(head) + self.byte_sum)
        payload = head + add_numbers(self.body, instance)
        return reply_frame(0, payload, sum_bytes(payload))


@dataclass(frozen=True)
class LogSlice:
    """The events between two cursors.

    Attributes:
        lost: whether the log was trimmed past the first cursor.
    """

    begin: int
    end: int
    events: tuple[PackedEvent, ...] = ()
    lost: bool = False


def cursor_at(segment: int, changes: int = 0) -> int:
    """The cursor behind that many changes of a segment."""
    return segment << _ROW_BITS | changes


def trimmed_log_error(source: str) -> LogTrimmed:
    """The error for events that the log has no more."""
    return LogTrimmed(
        412,
        f"events of {source} are gone, since the change log was trimmed past them",
        "read the tables anew if you need their state, and set `forget_hours` higher; what the log has follows",
    )


def segment_number(cursor: int) -> int:
    """The segment that a cursor stands in."""
    return cursor >> _ROW_BITS


@dataclass(frozen=True)
class _OpenSegment:
    """A segment that was read in part: the rest of a batch, the changes before it, and the batches behind it."""

    row: int
    rest: pa.RecordBatch
    batches: Generator[tuple[int, pa.RecordBatch]]

    def remaining_batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rest of the batch, and the batches behind it."""
        if len(self.rest):
            yield self.row, self.rest
        yield from self.batches


class LogReader:
    """Reads one source's log; by one thread at a time."""

    def __init__(self, source: str, manifest: Manifest, files: SegmentFiles) -> None:
        self.source = source
        self._manifest = manifest
        self._files = files
        self._layouts: dict[int, Layout] = {}
        # By cursor: the next slice begins there as a rule, and to open a segment is to copy and hash all of it.
        self._open: dict[int, _OpenSegment] = {}

    def end(self) -> int:
        """The cursor behind all that is listed now."""
        return cursor_at(self._manifest.end().segment + 1)

    def read(self, begin: int, wants: TableFilter) -> LogSlice:
        """Read what follows a cursor in the listed segments, up to a bounded amount.

        Raises:
            SluiceError: as `SegmentFiles.read` and the store do.
        """
        segments = self._manifest.since(segment_number(begin), _MOST_SEGMENTS)
        if not segments:
            # Only a store that was restored ends before what was read of it.
            return LogSlice(begin, min(begin, self.end()))
        lost = segments[0].number > segment_number(begin)
        end = cursor_at(segments[0].number) if lost else begin
        builder = _SliceBuilder(wants)
        for segment in segments:
            end = max(end, cursor_at(segment.number))
            segment_part = self._open.pop(end, None)
            batches = segment_part.batches if segment_part else self._batches(segment, _change_count(end))
            for row, batch in segment_part.remaining_batches() if segment_part else batches:
                end = builder.add(cursor_at(segment.number, row), batch, self._batch_layouts(batch))
                if builder.is_full:
                    done = _change_count(end)
                    self._keep(end, _OpenSegment(done, batch.slice(done - row), batches))
                    return builder.result(begin, end, lost)
            end = cursor_at(segment.number + 1)
        return builder.result(begin, end, lost)

    def _keep(self, cursor: int, segment: _OpenSegment) -> None:
        while len(self._open) >= _MOST_OPEN:
            self._open.pop(next(iter(self._open))).batches.close()
        if replaced := self._open.pop(cursor, None):
            replaced.batches.close()
        self._open[cursor] = segment

    def _batches(self, segment: Segment, done: int) -> Generator[tuple[int, pa.RecordBatch]]:
        """The changes of a segment behind the first ones, each batch with the number of those before it."""
        row = 0
        if done < segment.changes:
            for batch in self._files.read(segment.file, segment.first_ordinal - 1):
                skipped = min(max(done - row, 0), len(batch))
                if skipped < len(batch):
                    yield row + skipped, batch.slice(skipped)
                row += len(batch)

    def _batch_layouts(self, batch: pa.RecordBatch) -> Mapping[int, Layout]:
        numbers = set(np.unique(batch.column("layout").to_numpy()).tolist())
        if unknown := numbers - self._layouts.keys():
            self._layouts |= self._manifest.layouts(unknown)
        return {number: self._layouts[number] for number in numbers if number in self._layouts}


def sum_bytes(part: bytes) -> int:
    """The sum of bytes. The built-in `sum` keeps all other threads waiting, if they are many."""
    return int(np.frombuffer(part, np.uint8).sum(dtype=np.uint64))


def _change_count(cursor: int) -> int:
    return cursor & (1 << _ROW_BITS) - 1


class _SliceBuilder:
    """Collects the events of a slice."""

    def __init__(self, wants: TableFilter) -> None:
        self._wants = wants
        self._events: list[PackedEvent] = []
        self._bytes = 0
        self._changes = 0

    @property
    def is_full(self) -> bool:
        return len(self._events) >= _MOST_EVENTS or self._bytes >= _MOST_BYTES or self._changes >= _MOST_CHANGES

    def result(self, begin: int, end: int, lost: bool) -> LogSlice:
        return LogSlice(begin, end, tuple(self._events), lost)

    def add(self, begin: int, batch: pa.RecordBatch, layouts: Mapping[int, Layout]) -> int:
        """Take the events of a batch, as many as there is room for; returns the cursor behind what was looked at."""
        numbers = batch.column("layout").to_numpy()
        mine = [number for number, layout in layouts.items() if self._wants(layout.name)]
        # A table that was renamed is told of under its old name, too.
        altered = pc.equal(batch.column("action"), Action.ALTER.value).to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(np.isin(numbers, mine) | altered)
        looked_at = len(batch)
        # Wide rows fill memory long before there are many of them.
        step = max(1, min(_AT_ONCE, _MOST_BYTES * len(batch) // max(batch.nbytes, 1)))
        for first in range(0, len(rows), step):
            if self.is_full:
                looked_at = int(rows[first])
                break
            some = rows[first : first + step]
            changes = batch.select(["layout", "action", "new", "old"]).take(pa.array(some)).to_pylist()
            for row, change in zip(some.tolist(), changes, strict=True):
                position, layout = begin + row + 1, layouts[change["layout"]]
                match KINDS.get(action := Action(change["action"])):
                    case EventKind.DDL:
                        self._pack_command(position, action, layout, change["new"])
                    case kind if kind is not None:
                        self._pack_row(position, kind, layout, change["old"], change["new"])
        self._changes += looked_at
        return begin + looked_at

    def _pack_row(
        self, position: int, kind: EventKind, layout: Layout, old: list[str | None] | None, new: list[str | None] | None
    ) -> None:
        # The image of a deleted row may stand in either place.
        if kind is EventKind.DELETE:
            old, new = old if old is not None else new, None
        elif kind is EventKind.INSERT:
            old = None
        columns = () if kind is EventKind.TRUNCATE else layout.columns
        images = zip(columns, _values(old, columns), _values(new, columns), strict=True)
        self._pack(position, kind, layout.name, [(column.name, before, after) for column, before, after in images])

    def _pack_command(self, position: int, action: Action, layout: Layout, text: list[str | None] | None) -> None:
        change, tables = None, {layout.name}
        with suppress(ValueError):
            change = TableChange.from_json((text or [None])[0] or "")
            tables |= {side.name for side in (change.before, change.after) if side}
        fields = (("command", action.name), ("statement", (change and change.statement) or ""))
        for table in sorted(filter(self._wants, tables)):
            self._pack(position, EventKind.DDL, table, [(name, b"", after.encode()) for name, after in fields])

    def _pack(self, position: int, kind: EventKind, table: TableName, columns: list[tuple[str, bytes, bytes]]) -> None:
        body = event_body(table.schema, table.table, columns)
        if len(body) > _MOST_OF_ONE:
            event("WARNING event left out", table=table, position=position, why="it is larger than a reply")
            return
        self._events.append(packed := PackedEvent(position, kind, table, body, sum_bytes(body)))
        self._bytes += packed.size


def _values(image: list[str | None] | None, columns: Sequence[Column]) -> list[bytes]:
    if image is None:
        return [b""] * len(columns)
    return [as_bytes(column.type, value) for column, value in zip(columns, image, strict=True)]
