"""The messages of a slot as batches of changes: whole transactions, in the order of their commits (R1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sluice.arrow_rows import concat, take_rows
from sluice.changelog.schema import NO_LAYOUT, SWEPT, images_of
from sluice.errors import SluiceError, sanitize
from sluice.log import event
from sluice.model.action import COMMANDS, Action
from sluice.model.layout import Layout
from sluice.vendors.postgresql.capture.log import pgoutput
from sluice.vendors.postgresql.capture.log.changed_rows import MalformedChange, images
from sluice.vendors.postgresql.capture.log.pgoutput import Change, Malformed, Relation
from sluice.vendors.postgresql.capture.queue.row_images import fields

_BATCH_ROWS = 10_000
_BATCH_BYTES = 4 * 1024 * 1024
_HALF = 2**32
_ACTIONS = {pgoutput.INSERT: Action.INSERT, pgoutput.UPDATE: Action.UPDATE, pgoutput.DELETE: Action.DELETE}
_EVERY_ACTION = "IUD"
# So many columns of each side are named where they differ, in so many characters.
_SAID_COLUMNS = 3
_SAID_CHARACTERS = 500
# The action in the queue by which a transaction of ours begins that is not to be published (`mark_own.sql`). Neither of
# these is an `Action`.
OWN = b"O"
# That by which the transaction of a statement begins, of which the statement alone is published (`mark_statement.sql`).
ALONE = b"B"


@dataclass(frozen=True)
class Known:
    """What a stream is read by.

    Attributes:
        queue: the number of the table ITEMS is stored as, of which commands come.
        recorded: the number of the table in which layouts are recorded.
        layouts: all of them, by id, with the number of the table of each.
        actions: those that are wanted of a table, by its number.
        newest: an id of a transaction, about as new as those of the stream.
        shows: whether a transaction is to be published now.
    """

    queue: int
    recorded: int
    layouts: Mapping[int, tuple[int, Layout]]
    actions: Mapping[int, str]
    newest: int
    shows: Callable[[str], bool]


@dataclass(frozen=True)
class Place:
    """A place in the stream.

    Attributes:
        lsn: all that committed before it is published.
        ahead: published transactions that committed later.
        layouts: the ids of the layouts that tables have there.
    """

    lsn: int
    ahead: frozenset[int]
    layouts: frozenset[int]


class _Fit(NamedTuple):
    """The way to read changes of a table.

    Attributes:
        wanted: the actions.
        lost: why they cannot be, if the table was altered unseen.
    """

    layout: Layout
    wanted: str
    lost: bytes | None


@dataclass
class _Rows:
    """Changes that are not given yet.

    Attributes:
        changes: messages of the log that are changes, each with its place.
        queued: what came from the queue instead, by the number of the change: the layout, and the texts of both images;
            of a command `NO_LAYOUT` and its text, of a change that is too long nothing.
    """

    last: list[int] = field(default_factory=list)
    transactions: list[str] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)
    layouts: list[int] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    changes: list[tuple[int, bytes]] = field(default_factory=list)
    queued: dict[int, tuple[int, list[bytes | None]]] = field(default_factory=dict)
    bytes: int = 0

    def batch(self, layouts: Mapping[int, tuple[int, Layout]]) -> pa.RecordBatch:
        arrays = [
            pa.array(self.last, pa.int64()),
            pa.array(self.transactions, pa.string()),
            pa.array(self.keys, pa.int64()),
            pa.array(self.layouts, pa.int64()),
            pa.array(self.actions, pa.string()),
            *self._images(layouts),
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=SWEPT)

    def _images(self, layouts: Mapping[int, tuple[int, Layout]]) -> list[pa.ListArray]:
        sides = [[one] for one in images(self.changes)]
        if not self.queued:
            return [side[0] for side in sides]
        numbers = defaultdict(list)
        for number, (layout, _) in self.queued.items():
            numbers[layout].append(number)
        places = np.empty(len(self.last), np.int64)
        places[np.setdiff1d(np.arange(len(places)), list(self.queued))] = np.arange(len(self.changes))
        count = len(self.changes)
        for layout, those in numbers.items():
            places[those] = np.arange(count, count + len(those))
            count += len(those)
            for index, side in enumerate(sides):
                texts = [self.queued[number][1][index] for number in those]
                if layout == NO_LAYOUT:
                    side.append(images_of([None if text is None else [text] for text in texts]))
                else:
                    side.append(fields(pa.array(texts, pa.string()), len(layouts[layout][1].columns)))
        return [take_rows(concat(side), places) for side in sides]


class Stream:
    """One reading of a slot from its beginning.

    Attributes:
        taken: how many changes it gave.
        used: the layouts of changes that it gave, by id.
        keys: of the rows of the queue that are published now.
    """

    def __init__(self, known: Known, place: Place) -> None:
        self._known = known
        self._place = place
        self._relations: dict[int, Relation] = {}
        # Of a table, as it is now.
        self._fitting: dict[bytes, _Fit] = {}
        self._current = {known.layouts[one][0]: one for one in sorted(place.layouts) if one in known.layouts}
        self._rows = _Rows()
        self._xid, self._transaction, self._commit, self._key = 0, "0", 0, 0
        self._was_published = self._is_taken = self._is_behind = self._is_alone = False
        self._lsn, self._ahead = place.lsn, set(place.ahead)
        self._strangers: set[int] = set()
        self.used: dict[int, Layout] = {}
        self.keys: list[int] = []
        self.taken = 0

    @property
    def end(self) -> Place:
        """Where the stream is, once all that was given is published. What it did not come to stays as it was."""
        return Place(self._lsn, frozenset(self._ahead), frozenset(self._current.values()))

    def batches(self, messages: Iterator[tuple[int, bytes]]) -> Iterator[pa.RecordBatch]:
        """The changes of these messages.

        Raises:
            SluiceError: SLC-405, a message is none.
        """
        for place, data in messages:
            try:
                self._read(place, data)
            except (Malformed, UnicodeDecodeError, pa.ArrowInvalid) as error:
                raise _malformed(place, data, str(error)) from None
            if len(self._rows.last) >= _BATCH_ROWS or self._rows.bytes >= _BATCH_BYTES:
                yield self._given()
        if self._rows.last:
            yield self._given()

    def _given(self) -> pa.RecordBatch:
        rows, self._rows = self._rows, _Rows()
        self.taken += len(rows.last)
        try:
            return rows.batch(self._known.layouts)
        except MalformedChange as error:
            raise _malformed(error.place, error.data, str(error)) from None

    def _read(self, place: int, data: bytes) -> None:
        kind = data[0] if data else 0
        if kind in _ACTIONS:
            if self._is_taken or self._was_published:
                self._change(place, kind, data)
        elif kind == pgoutput.BEGIN:
            self._commit, low = pgoutput.begun(data)
            self._xid = _whole(low, self._known.newest)
            self._was_published = self._commit < self._place.lsn or self._xid in self._place.ahead
            self._transaction = str(self._xid)
            self._is_taken = not self._was_published and self._known.shows(self._transaction)
            self._is_alone = False
        elif kind == pgoutput.COMMIT:
            self._ended(pgoutput.committed(data))
        elif kind == pgoutput.RELATION:
            relation = pgoutput.relation(data)
            self._relations[relation.oid] = relation
            self._fitting.pop(pgoutput.table_in(data), None)
        elif kind not in pgoutput.IGNORED:
            raise Malformed(f"its kind {kind} is unknown, at offset 0")

    def _ended(self, end: int) -> None:
        if not (self._was_published or self._is_taken):
            self._is_behind = True
        elif self._is_behind:
            self._ahead.add(self._xid)
        else:
            self._lsn = max(self._lsn, end)
            self._ahead.discard(self._xid)
        self._was_published = self._is_taken = False

    def _change(self, place: int, kind: int, data: bytes) -> None:
        table = pgoutput.table_in(data)
        is_given = self._is_taken and not self._is_alone
        found = self._fitting.get(table) if is_given else None
        if found is None:
            relation = pgoutput.table_of(data)
            if relation == self._known.recorded:
                self._recorded(pgoutput.change(data))
            elif relation == self._known.queue:
                self._queued(place, pgoutput.change(data))
            elif is_given:
                found = self._fit(relation, table)
        if found is None:
            return
        layout, wanted, lost = found
        if (action := _ACTIONS[kind]) in wanted:
            if lost or pgoutput.is_left_out(data):
                action = Action.LOST
                self._rows.queued[len(self._rows.last)] = NO_LAYOUT, [lost, None]
            else:
                self._rows.changes.append((place, data))
            self._put(place, layout, action, len(data) + len(lost or b""))

    def _recorded(self, change: Change) -> None:
        """From here on a table has other columns."""
        row = self._named(change)
        number, relation = int(row["repl_key"] or 0), int(row["relid"] or 0)
        # What is not among those that the sweep read was forgotten since: nothing is left of its table.
        if number in self._known.layouts:
            self._current[relation] = number
        self._fitting.clear()

    def _queued(self, place: int, change: Change) -> None:
        """A command, or the rows of a table that came with it."""
        row = self._named(change)
        self.keys.append(int(row["repl_key"] or 0))
        if row["db_action"] == OWN:
            # Nothing of this transaction came before, and nothing that follows is published.
            self._was_published, self._is_taken = self._was_published or self._is_taken, False
        self._is_alone = self._is_alone or row["db_action"] == ALONE
        kind = (row["db_action"] or b"").decode()[:1]
        if not self._is_taken or (self._is_alone and kind != Action.STATEMENT):
            return
        action = Action(kind)
        layout = self._layout(int(row["relid"] or 0))
        if layout is None and action not in (Action.STATEMENT, Action.COMMIT):
            self._is_strange(int(row["relid"] or 0))
            return
        content, before = row["content"], row["oldcontent"]
        number = len(self._rows.last)
        self._put(place, layout, action, len(content or b"") + len(before or b""))
        if action in COMMANDS:
            self._rows.queued[number] = NO_LAYOUT, [content, None]
        elif layout:
            self._rows.queued[number] = layout.id, [content, before]
        else:
            self._rows.queued[number] = NO_LAYOUT, [None, None]

    def _put(self, place: int, layout: Layout | None, action: Action, size: int) -> None:
        rows = self._rows
        # Changes of one record of the log share their place; the next record is further away than their number.
        self._key = max(self._key + 1, place)
        rows.last.append(self._commit)
        rows.transactions.append(self._transaction)
        rows.keys.append(self._key)
        rows.layouts.append(layout.id if layout else NO_LAYOUT)
        rows.actions.append(action)
        rows.bytes += size
        if layout:
            self.used[layout.id] = layout

    def _layout(self, relation: int) -> Layout | None:
        number = self._current.get(relation)
        return self._known.layouts[number][1] if number is not None else None

    def _fit(self, relation: int, table: bytes) -> _Fit | None:
        """The way to read changes of a table; None if it is not watched."""
        said = self._relations.get(relation)
        if said is None:
            raise Malformed("a change is of a table that no message described")
        layout = self._layout(relation)
        if layout is None:
            self._is_strange(relation)
            return None
        recorded, lost = tuple(column.name for column in layout.columns), None
        if recorded != said.names:
            lost = _tell_difference(said.names, recorded)
        fit = self._fitting[table] = _Fit(layout, self._known.actions.get(relation, _EVERY_ACTION), lost)
        return fit

    def _is_strange(self, relation: int) -> None:
        if relation not in self._strangers:
            self._strangers.add(relation)
            event("changes of a table that is not watched", relation=relation)

    def _named(self, change: Change) -> dict[str, bytes | None]:
        said = self._relations.get(change.relation)
        if said is None or change.new is None or len(said.names) != len(change.new):
            raise Malformed("a row of ours has other columns than its table")
        return dict(zip(said.names, change.new, strict=True))


def places_of(changes: Iterable[Mapping[str, Sequence[Any]]]) -> dict[str, int | None]:
    """The `transactions` of changes that one reading gave, in its order, each with a place of the log where it has one
    of them; None where their `keys` do not tell, see `Stream._put`.
    """
    places: dict[str, int | None] = {}
    before = -1
    for some in changes:
        for key, transaction in zip(some["keys"], some["transactions"], strict=True):
            if places.get(transaction) is None:
                places[transaction] = key if key > before + 1 else None
            before = key
    return places


def _tell_difference(said: Sequence[str], recorded: Sequence[str]) -> bytes:
    """The text that tells from which column on they differ. Each row that is lost brings it along."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(said, recorded, strict=False)))
    log, ours = (", ".join(names[same : same + _SAID_COLUMNS]) or "none" for names in (said, recorded))
    text = f"its columns differ from number {same + 1} on: the log has {log}, and recorded are {ours}"
    return sanitize(text)[:_SAID_CHARACTERS].encode()


def _whole(low: int, newest: int) -> int:
    """The id of a transaction by its lower half: that which is nearest to the newest."""
    near = newest - newest % _HALF + low
    if near - newest > _HALF // 2:
        return near - _HALF
    return near + _HALF if newest - near > _HALF // 2 else near


def _malformed(place: int, data: bytes, why: str) -> SluiceError:
    return SluiceError(
        405,
        f"a message of the server's log cannot be read: {why}; it is of the kind {data[:1]!r}, with {len(data)} bytes, "
        f"at {place >> 32:X}/{place & 0xFFFFFFFF:X}",
        "nothing of it was published. If somebody altered the replica identity of a table, or a publication, trigger "
        "the DAG bootstrap with rebase, then initial_update for all slaves of this source; else report the defect",
    )
