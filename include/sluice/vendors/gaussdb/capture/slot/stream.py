"""The statements of a slot as batches of changes: whole transactions, in the order of their commits (R1).

A transaction is told whole: its id may stand in its COMMIT alone. What came of it before that is kept, on the disk
if it is much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sluice.arrow_rows import concat, take_rows
from sluice.changelog.schema import ROW, SWEPT
from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.action import Action
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.vendors.gaussdb.capture.slot.images import images
from sluice.vendors.gaussdb.capture.slot.records import Begin, Commit, Decoded, Form, Records
from sluice.vendors.gaussdb.capture.slot.transaction_buffer import TransactionBuffer
from sluice.vendors.gaussdb.catalog.tables import Described

_BATCH_ROWS = 10_000
_BATCH_BYTES = 4 * 1024 * 1024


class Decoder(Protocol):
    """A decoder of one format."""

    @property
    def records(self) -> Records:
        """What was decoded."""

    def feed(self, message: bytes, lsn: int | None = None) -> None:
        """Take a message that stands at `lsn`."""

    def taken(self) -> Decoded:
        """All that was decoded since it was taken last."""


@dataclass(frozen=True)
class Known:
    """What a stream is read by.

    Attributes:
        tables: those that are watched.
        actions: those that are wanted of a table.
        emptied: the table that names the tables that were emptied.
        shows: whether a transaction is to be published now.
    """

    tables: Mapping[TableName, Described]
    actions: Mapping[TableName, str]
    emptied: TableName
    shows: Callable[[str], bool]


@dataclass(frozen=True)
class Place:
    """A place in the stream: all that committed before `lsn` is published, and the transactions `ahead`, which
    committed later.
    """

    lsn: int
    ahead: frozenset[int] = frozenset()


class Stream:
    """One reading of a slot.

    Attributes:
        taken: how many changes it gave.
        used: the layouts of changes that it gave, by id.
    """

    def __init__(self, known: Known, place: Place, decoder: Decoder) -> None:
        self._known = known
        self._place = place
        self._decoder = decoder
        self._lsn, self._ahead = place.lsn, set(place.ahead)
        self._is_behind = False
        self._key = 0
        self._begin: Begin | None = None
        self._pending = TransactionBuffer()
        self._strangers: set[TableName] = set()
        self.used: dict[int, Layout] = {}
        self.taken = 0

    @property
    def end(self) -> Place:
        """Where the stream is, once all that was given is published."""
        return Place(self._lsn, frozenset(self._ahead))

    def batches(self, messages: Iterable[tuple[int, bytes]]) -> Iterator[pa.RecordBatch]:
        """The changes of these messages, each with its place.

        Raises:
            SluiceError: SLC-420, they cannot be read; SLC-404 or SLC-405, see `images`.
        """
        count = size = 0
        for place, message in messages:
            self._decoder.feed(message, place)
            count, size = count + 1, size + len(message)
            if count >= _BATCH_ROWS or size >= _BATCH_BYTES:
                yield from self.decoded()
                count = size = 0
        yield from self.decoded()

    def decoded(self) -> Iterator[pa.RecordBatch]:
        """What the decoder has, as far as it is of transactions that ended."""
        piece = self._decoder.taken()
        rows = self._rows(piece)
        done = 0
        lasts: list[int] = []
        xids: list[int] = []
        counts: list[int] = []
        for mark in piece.marks:
            if isinstance(mark, Begin):
                self._begin = mark
            elif isinstance(mark, Commit):
                end, xid = self._of(mark)
                is_taken = self._ended(end, xid)
                if self._pending:
                    # The beginning of it came with pieces before this one.
                    for earlier in self._pending.given():
                        if is_taken:
                            yield from self._given(earlier, [len(earlier)], [end], [xid])
                counts.append(mark.at - done if is_taken else done - mark.at)
                lasts.append(end)
                xids.append(xid)
                done = mark.at
                self._begin = None
        yield from self._given(rows.slice(0, done), counts, lasts, xids)
        if done < len(rows):
            self._pending.keep(rows.slice(done))

    def _of(self, mark: Commit) -> tuple[int, int]:
        xid = mark.xid
        if xid is None and self._begin is not None:
            xid = self._begin.xid
        if xid is None or mark.lsn is None:
            raise SluiceError(
                420,
                "the decoded stream ends a transaction, and does not say which one, or where",
                "nothing of it was taken; this is a defect: report it with the version of the server",
            )
        return mark.lsn, xid

    def _ended(self, end: int, xid: int) -> bool:
        """Whether the transaction that ends here is to be published now."""
        was_published = end <= self._place.lsn or xid in self._place.ahead
        if not was_published and not self._known.shows(str(xid)):
            self._is_behind = True
            return False
        if self._is_behind:
            self._ahead.add(xid)
        else:
            self._lsn = max(self._lsn, end)
            self._ahead.discard(xid)
        return not was_published

    def _given(
        self, rows: pa.RecordBatch, counts: list[int], lasts: list[int], xids: list[int]
    ) -> Iterator[pa.RecordBatch]:
        """These rows as those of transactions; a negative count is of one that is not taken."""
        sizes = np.abs(np.array(counts, np.int64))
        last, xid = np.repeat(np.array(lasts, np.int64), sizes), np.repeat(np.array(xids, np.int64), sizes)
        wanted = np.repeat(np.array(counts, np.int64) > 0, sizes)
        wanted &= rows["layout"].to_numpy() >= 0
        places = np.flatnonzero(wanted)
        if not len(places):
            return
        kept = take_rows(pa.Table.from_batches([rows]), places).combine_chunks()
        for number in np.unique(kept["layout"].to_numpy()):
            table = self._by_number[int(number)]
            self.used[table.layout.id] = table.layout
        columns = {name: kept[name].combine_chunks() for name in kept.column_names}
        columns = {
            name: column.chunk(0) if isinstance(column, pa.ChunkedArray) else column for name, column in columns.items()
        }
        columns |= {"last": pa.array(last[places]), "trans_key": pa.array(xid[places]).cast(pa.string())}
        self.taken += len(places)
        yield pa.RecordBatch.from_arrays([columns[name] for name in SWEPT.names], schema=SWEPT)

    @property
    def _by_number(self) -> Mapping[int, Described]:
        return {table.layout.id: table for table in self._known.tables.values()}

    def _rows(self, piece: Decoded) -> pa.RecordBatch:
        """All changes with the columns of `SWEPT` but for `last` and `trans_key`; a `layout` below zero is of none that
        is wanted.
        """
        changes = piece.changes
        count = len(changes)
        forms = changes["form"].to_numpy()
        layouts = np.full(count, -1, np.int64)
        actions = (
            np.array([form.action.value for form in piece.forms], object)[forms] if count else np.array([], object)
        )
        order: list[NDArray[np.int64]] = []
        sides: dict[str, list[pa.Array]] = {"new": [], "old": []}
        for number, form in enumerate(piece.forms):
            places = np.flatnonzero(forms == number)
            order.append(places)
            new, old = (take_rows(changes[side], places) for side in ("new", "old"))
            if form.table == self._known.emptied and form.action == Action.INSERT:
                self._emptied(form, new, places, layouts, actions)
                new = old = pa.nulls(len(places), ROW)
            elif table := self._wanted(form):
                layouts[places] = table.layout.id
                new, old = images(form, table, new, old)
            else:
                new = old = pa.nulls(len(places), ROW)
            sides["new"].append(new)
            sides["old"].append(old)
        back = np.argsort(np.concatenate(order), kind="stable") if order else np.array([], np.int64)
        arrays = [
            pa.array(self._keys(changes["lsn"])),
            pa.array(layouts),
            pa.array(actions.tolist(), pa.string()),
            *(take_rows(concat([pa.nulls(0, ROW), *lists]), back) for lists in sides.values()),
        ]
        return pa.RecordBatch.from_arrays(arrays, names=["repl_key", "layout", "action", "new", "old"])

    def _keys(self, lsns: pa.Array) -> NDArray[np.int64]:
        """A number for each change, in their order: its place, or behind the one before it."""
        places = lsns.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        steps = np.arange(len(places), dtype=np.int64)
        keys = np.maximum(np.maximum.accumulate(places - steps), self._key + 1) + steps if len(places) else places
        if len(keys):
            self._key = int(keys[-1])
        return keys

    def _wanted(self, form: Form) -> Described | None:
        # What a server says of a TRUNCATE itself comes beside the row that our trigger writes.
        if form.action == Action.TRUNCATE or form.table == self._known.emptied:
            return None
        table = self._known.tables.get(form.table)
        if table is None:
            if form.table not in self._strangers:
                self._strangers.add(form.table)
                event("changes of a table that is not watched", table=form.table)
            return None
        return table if form.action.value in self._known.actions[form.table] else None

    def _emptied(
        self,
        form: Form,
        new: pa.ListArray,
        places: NDArray[np.int64],
        layouts: NDArray[np.int64],
        actions: NDArray[np.object_],
    ) -> None:
        names = [field.name for field in form.new or ()]
        for place, row in zip(places, new.to_pylist(), strict=True):
            named = dict(zip(names, row, strict=True))
            name = TableName(named.get("schemaname") or "", named.get("tablename") or "")
            table = self._known.tables.get(name)
            if table and "D" in self._known.actions[name]:
                layouts[place], actions[place] = table.layout.id, Action.TRUNCATE.value
