"""Events of the log as batches of changes: whole transactions, in the order in which they are in the log (R1)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import pyarrow as pa

from sluice.changelog.schema import NO_LAYOUT
from sluice.model.action import Action
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.vendors import table_commands
from sluice.vendors.managed import SETTING
from sluice.vendors.mariadb.capture.binlog import events
from sluice.vendors.mariadb.capture.binlog.alterations import UNCLEAR, Does
from sluice.vendors.mariadb.capture.binlog.batch_rows import BatchRows
from sluice.vendors.mariadb.capture.binlog.byte_reader import Malformed
from sluice.vendors.mariadb.capture.binlog.carried import NOT_MADE, expect_values_kept, followed
from sluice.vendors.mariadb.capture.binlog.definitions import Bound, Definition, may_name, understood
from sluice.vendors.mariadb.capture.binlog.events import Event, Query, TableMap
from sluice.vendors.mariadb.capture.binlog.issued import Issued, begun_by
from sluice.vendors.mariadb.capture.binlog.layouts import (
    Described,
    Layouts,
    UnclearTable,
    another_log,
    not_rows,
    uncertain,
    unclear,
    unreadable,
)
from sluice.vendors.mariadb.capture.binlog.reader import LogPlace, Read
from sluice.vendors.mariadb.capture.binlog.statements import NotUnderstood, is_about_a_transaction, is_strict
from sluice.vendors.mariadb.capture.binlog.transaction import Transaction
from sluice.vendors.mariadb.capture.binlog.values import Image
from sluice.vendors.mariadb.server import MARIADB, writer_of

_BATCH_ROWS = 10_000
_BATCH_BYTES = 4 * 1024 * 1024
_XA = "a transaction of XA may have changed them"


class Stream:
    """One reading of the log from a place.

    Attributes:
        end: behind the last whole transaction that was read.
        born: of the file of that place: when it was begun, and by which server.
        layouts: those of where it is.
        taken: how many changes are given.
        used: the layouts of changes that are given, by id.
        more: it ended at its bound.
        transactions: the numbers of those that changed something.
        prepared: tables of which a transaction of XA has rows that is not committed yet, by its name.
        since: the place up to which a table's layout has all definitions already, since a catalog told it.
        server: which writes the log.
        records: the table with records of statements, whose transactions are given as these; None: as rows.

    Args:
        wanted: the actions that are wanted of a table; None if it is not watched.
        until: nothing behind this place is read.
        ending: where the log ends now. None: nothing is left out, and a table that cannot be read is an error.
        most: after so many changes it ends with the transaction that it is in; None: with what `until` says.
        born: the file of the first place, if that is known.
    """

    def __init__(
        self,
        begin: LogPlace,
        born: str,
        layouts: Layouts,
        wanted: Callable[[TableName], str | None],
        until: LogPlace,
        most: int | None = None,
        ending: Callable[[], LogPlace] | None = None,
    ) -> None:
        self.end = self._file = begin
        self.born = born
        self.layouts, self._wanted = layouts, wanted
        self._until, self._most, self._ending = until, most, ending
        self._maps: dict[int, tuple[TableMap, Described] | None] = {}
        self._rows = BatchRows()
        # Of the transaction that is read: its number, what is known of it, and where its changes begin.
        self._number: int | None = None
        self._open = Transaction()
        self._begun = self._begun_total = self._key = 0
        self.since: dict[TableName, LogPlace] = {}
        self.prepared: dict[str, Collection[TableName]] = {}
        self.records: TableName | None = None
        self.server = MARIADB
        self._issued: Issued | None = None
        self._last: int | None = None
        self.used: dict[int, Layout] = {}
        self.transactions: list[int] = []
        self.taken, self.more = 0, False

    def ends_with(self, transaction: int) -> None:
        """Read no further than this transaction."""
        self._last = transaction

    def batches(self, log: Iterator[Read]) -> Iterator[pa.RecordBatch]:
        """The changes of these events.

        Raises:
            SluiceError: SLC-446, a table cannot be read; SLC-405, changes are not told as rows; an event is
                none; the log is another one.
        """
        for one in log:
            try:
                self._read(one)
            except ValueError as error:
                why = f"{error}; the event is of the kind {one.event.kind}, with {len(one.event.data)} bytes"
                raise unreadable(f"{one.file}:{one.event.end}", why) from None
            if len(self._rows.last) >= _BATCH_ROWS or self._rows.bytes >= _BATCH_BYTES:
                yield self._given()
            if self._number is None and self._is_over():
                break
        if self._number is not None:
            # The server gives whole transactions; this is what it wrote when it died.
            raise unreadable(str(self.end), "it ends within a transaction")
        if self._rows.last:
            yield self._given()

    def _is_over(self) -> bool:
        if self._most is not None and self.taken + len(self._rows.last) >= self._most and self.end < self._until:
            self.more = True
        has_last = self._last is not None and self.transactions[-1:] >= [self._last]
        return self.more or has_last or self.end >= self._until

    def _given(self) -> pa.RecordBatch:
        rows, self._rows = self._rows, BatchRows()
        self.taken += len(rows.last)
        self._begun = 0
        return rows.batch()

    def _read(self, one: Read) -> None:
        found, kind = one.event, one.event.kind
        if kind in events.ROWS:
            self._changes(found)
        elif kind == events.TABLE_MAP:
            self._described(found.data)
        elif kind in events.GTIDS:
            self._begin(one)
        elif kind == events.XID:
            self._committed(found)
        elif kind == events.QUERY:
            self._statement(found)
        elif kind == events.FORMAT:
            self._opened(one)
        elif kind == events.XA_PREPARE:
            self._prepared(found)
        elif kind in events.UNREAD:
            raise not_rows(str(self.end), events.UNREAD[kind])
        elif kind not in events.IGNORED:
            raise not_rows(str(self.end), f"an event of the kind {kind}, which is not known")

    def _opened(self, one: Read) -> None:
        """A file of the log begins, or goes on."""
        if self._number is not None:
            raise Malformed("a file ends within a transaction")
        self._maps.clear()
        self.server = writer_of(events.version(one.event.data), self.server)
        place = LogPlace.of(one.file, one.event.end)
        born = f"{one.event.time} {one.event.server}"
        if place.file == self.end.file:
            if self.born and self.born != born:
                raise another_log(one.file, self.end)
        else:
            self.end = place
        self._file, self.born = place, born

    def _begin(self, one: Read) -> None:
        if self._number is not None:
            raise Malformed("a transaction begins within another one")
        self._number = LogPlace.of(one.file, one.event.end).number
        self._open = Transaction.begun(one.event.kind, one.event.data)
        self._begun, self._begun_total = len(self._rows.last), self.taken + len(self._rows.last)
        self._issued = None

    @property
    def _has_changes(self) -> bool:
        """Whether something is given of the transaction that is read."""
        return self.taken + len(self._rows.last) > self._begun_total

    def _committed(self, found: Event) -> None:
        if self._number is None:
            raise Malformed("a transaction ends that has not begun")
        if self._issued is not None:
            self._stands_at(found)
            self._put(None, Action.STATEMENT, [self._issued.text], None)
        for layout in self._open.unmade:
            self._put(layout, Action.LOST, [NOT_MADE.format(layout.name)], None)
        if self._has_changes:
            self.transactions.append(self._number)
        self._number = None
        self._maps.clear()
        self.end = LogPlace.of(self._file.name, found.end)

    def _rolled_back(self, found: Event) -> None:
        """The log has what tables without transactions keep. Of others it has nothing, if not this."""
        self._rows.cut(self._begun)
        if self._has_changes:
            self._lose_all(self._open.touched, "a long transaction is rolled back")
        self._issued = None
        self._committed(found)

    def _statement(self, found: Event) -> None:
        query = events.query(found.data, self.server)
        self._stands_at(found)
        try:
            said = understood(query, self.layouts.charsets)
        except NotUnderstood as error:
            if is_about_a_transaction(query):
                raise uncertain(f"a statement in the binary log is not understood: {error}: {query.short}") from None
            named = may_name(query, self.layouts.charsets, {*self.layouts.current, *self.layouts.altered})
            said = Definition(tuple((name, Does.UNREAD) for name in named), unread=str(error))
        if self._open.is_alone is None:
            self._open.is_alone = said.bound is None
        if said.transaction is not None:
            self._open.touched, self._open.is_xa = set(), said.bound is Bound.BEGINS
            # Of one that was prepared before this was read nobody knows what it changed.
            tables = self.prepared.pop(said.transaction, self.layouts.current)
            self._lose_all(tables if said.bound is Bound.COMMITS else (), f"{_XA}: {query.short}")
        if self._open.is_alone:
            # The server commits it by itself; no word of its own does.
            if not self._open.is_provisional:
                self._defined(said, query)
            self._committed(found)
        elif said.bound is Bound.COMMITS:
            self._committed(found)
        elif said.bound is Bound.ROLLS_BACK:
            self._rolled_back(found)
        elif said.bound is Bound.SAVES or (said.bound is Bound.ROLLS_BACK_PART and (self._has_changes or self._issued)):
            try:
                self._open.saved.meets(said, self.taken, self._rows, counts=self._issued is None)
            except NotUnderstood as error:
                self._lose_all(self._open.touched, f"{error}: {query.short}")
        else:
            self._defined(said, query)

    def _defined(self, said: Definition, query: Query) -> None:
        dropped = [(name, Does.GONE) for name in self.layouts.current if name.schema == said.schema]
        for name, does in (*said.tables, *dropped):
            if self._wanted(name) is None:
                continue
            try:
                self._becomes(name, does, said, query)
            except UnclearTable as error:
                self._lose(error)
        if said.writes:
            # By a view, a trigger or a function it changes rows of tables that it does not name.
            why = f"a statement in place of rows may have changed them: {query.short}"
            remedy = f"set binlog_format = ROW for every session; {SETTING}. Then: "
            self._lose_all({*self.layouts.current, *self.layouts.altered}, why, remedy)

    def _becomes(self, name: TableName, does: Does, said: Definition, query: Query) -> None:
        """Follow what a statement makes of a watched table. Raises UnclearTable, that is not certain."""
        if self._is_early(name):
            self._emptied(name, does)
            return
        if said.renames and does is Does.GONE:
            self.layouts.expect_gone(name, query.short)
        if does in (Does.REPLACED, Does.UNTOLD, Does.UNREAD) or (does is Does.RETYPED and not is_strict(query)):
            raise unclear(name, f"{UNCLEAR[does]}{said.unread and ': '}{said.unread}: {query.short}", "")
        layout = self.layouts.current.get(name)
        if does is Does.GONE and layout and self.layouts.carried:
            self._put(layout, Action.DROP, [table_commands.drop(layout)], None)
        else:
            self._emptied(name, does)
        if does is Does.RETYPED:
            self.layouts.expect_kept(name)
            if layout and not self.layouts.carried:
                expect_values_kept(self.layouts, layout, said, query)
        becomes, command = followed(self.layouts, name, does, said, query)
        if command:
            self._put(becomes, command.action, [command.text], None)
        self.layouts.defined(name, gone=does is Does.GONE, becomes=becomes)
        self.layouts.expect_told(name)

    def _lose(self, error: UnclearTable) -> None:
        """Leave a table out, until slaves are filled with it again: as it is where the log ends now, or later."""
        if self._ending is None:
            raise error
        name = error.table
        self._open.touched.add(name)
        if self._is_early(name):
            return
        here, before = self._ending(), self.layouts.current.get(name)
        now = self.layouts.renew(name)
        if now:
            self.since[name] = here
        if layout := before or now:
            self._put(layout, Action.LOST, [f"SLC-{error.code}: {error.fact}"], None)

    def _is_early(self, name: TableName) -> bool:
        """Whether what is known of a table is how it is later."""
        since, number = self.since.get(name), self._number
        return since is not None and number is not None and number < since.number

    def _emptied(self, name: TableName, does: Does) -> None:
        if does in (Does.EMPTIED, Does.GONE) and (layout := self.layouts.current.get(name)):
            self._put(layout, Action.TRUNCATE, None, None)

    def _described(self, data: bytes) -> None:
        number, name = events.mapped(data)
        self._maps[number] = None
        if name == self.records:
            said = events.table_map(data, self.server)
            self._maps[number] = (said, self.layouts.aside(said))
        elif self._wanted(name) is not None and self.layouts.is_table(name):
            try:
                said, is_made = events.table_map(data, self.server), self.layouts.is_made(name)
                described = self.layouts.at(said, early=self._is_early(name))
                self._maps[number] = (said, described)
                if not is_made:
                    self._open.unmade.append(described.layout)
            except UnclearTable as error:
                self._lose(error)
            except (ValueError, IndexError) as error:
                self._lose(unclear(name, f"the log describes its columns in a way that is not known: {error}", ""))

    def _changes(self, found: Event) -> None:
        if self._number is None:
            raise Malformed("rows are in no transaction")
        rows = events.rows(found.kind, found.data)
        if self.server.logs_actions and not rows.tells_actions:
            raise not_rows(str(self.end), "changes without what foreign keys did by them (innodb_native_foreign_keys)")
        if rows.table not in self._maps:
            raise Malformed("rows are of a table that nothing described")
        known = self._maps[rows.table]
        if known is None:
            return
        layout, described = known[1].layout, known[1].of_rows(rows)
        if described is None:
            remedy = f"SET GLOBAL binlog_row_image = FULL; or, {SETTING}. Let no session set it otherwise. Then: "
            self._lose(unclear(layout.name, "the log does not have all of their columns", remedy))
            self._maps[rows.table] = None
            return
        action = Action(rows.action)
        if described.layout.name == self.records:
            self._recorded(action, described.images(bytes(rows.data), paired=action is Action.UPDATE))
            return
        if self._issued is not None:
            self._issued.touched.add(described.layout.name)
            return
        self._open.touched.add(described.layout.name)
        if self._open.is_xa or action not in (self._wanted(described.layout.name) or ""):
            return
        self._stands_at(found)
        data = bytes(rows.data)
        try:
            found_images = described.images(data, paired=action is Action.UPDATE)
        except ValueError as error:
            # What a table has the server takes, also texts with bytes that are no letters of their character set.
            self._lose(unclear(described.layout.name, str(error), ""))
            return
        if action is Action.UPDATE:
            for old, new in zip(found_images[::2], found_images[1::2], strict=True):
                self._put(described.layout, action, new, old)
        else:
            for image in found_images:
                sides = (image, None) if action is Action.INSERT else (None, image)
                self._put(described.layout, action, *sides)
        self._rows.bytes += len(data)

    def _recorded(self, action: Action, found: list[Image]) -> None:
        if self._issued is not None:
            self._issued.records(action, found)
        else:
            self._issued = begun_by(action, found, is_first=not self._has_changes)

    def _stands_at(self, found: Event) -> None:
        """Changes of an event bear the numbers of the bytes that tell of them."""
        if self._number is not None:
            self._key = max(self._key, (self._number >> 32 << 32) + found.end - len(found.data))

    def _put(self, layout: Layout | None, action: Action, new: Image | None, old: Image | None) -> None:
        self._key += 1
        self._rows.put(self._number or 0, self._key, layout.id if layout else NO_LAYOUT, action, new, old)
        if layout:
            self.used[layout.id] = layout

    def _prepared(self, found: Event) -> None:
        """The end of a transaction of XA; whether it is committed may be told later."""
        name, is_committed = events.prepared(found.data)
        if self._issued is not None or not self._open.is_xa:
            raise Malformed("a transaction of XA does not begin as one")
        self._stands_at(found)
        if is_committed:
            self._lose_all(self._open.touched, f"{_XA}: XA COMMIT ONE PHASE")
        else:
            self.prepared[name] = sorted(self._open.touched)
        self._committed(found)

    def _lose_all(self, tables: Collection[TableName], why: str, first: str = "") -> None:
        for name in filter(self._wanted, sorted(tables)):
            self._lose(unclear(name, why, first))
