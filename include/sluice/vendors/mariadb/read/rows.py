"""The master's rows as they were at a place of its log: what a dump and a comparison take to slaves of any kind.

Sessions of these servers cannot share a snapshot. So each one takes a snapshot of its own, which bears its place in the
log, behind the one that is asked for. MariaDB tells that place. MySQL does not: there a table is locked for the moment
in which the snapshot is taken, and the end of the log is its place, as far as that table goes.

What happened between the two places is in the log, with old and new rows, and is undone: of the rows that are read,
those go that came in between, and those come back that went. All sessions then give the rows of one place, whenever
they begin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

import pyarrow as pa
from pymysql.cursors import SSCursor

from sluice.connections import ConnectionInfo
from sluice.model.action import Action
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.values.copy_text import lines_of
from sluice.values.keyed_rows import KeyedRows
from sluice.vendors.mariadb.capture.binlog.layouts import Layouts
from sluice.vendors.mariadb.capture.binlog.reader import LogPlace, read
from sluice.vendors.mariadb.capture.binlog.server import end_of_log
from sluice.vendors.mariadb.capture.binlog.stream import Stream
from sluice.vendors.mariadb.catalog.master_tables import MasterTable, described
from sluice.vendors.mariadb.charsets import Charsets
from sluice.vendors.mariadb.errors import translated
from sluice.vendors.mariadb.master_types import Canonical, MasterColumn
from sluice.vendors.mariadb.read.key_order import key_order
from sluice.vendors.mariadb.read.key_parts import KeyAltered, KeyPart, part_of
from sluice.vendors.mariadb.read.session_snapshot import PATIENCE_S, begun, begun_apart, differs, held
from sluice.vendors.mariadb.session import Connection, composed, connect_to_master, execute, qualified
from sluice.vendors.protocol.read import Chunk, Key, KeyRange, RowFormat, another_key

_FETCHED = 10_000
_Row = tuple[str | None, ...]


class MariaRows:
    """See `sluice.vendors.protocol.load.CopyStream`.

    Args:
        came: rows that came since, and are left out.
        went: rows that went since, and come at the end.
        condition: for the rows that are read.
        ends: the session's transaction, and with it what it holds, behind the last row.
    """

    def __init__(
        self,
        session: Connection,
        table: MasterTable,
        columns: Sequence[MasterColumn],
        came: Counter[_Row],
        went: Counter[_Row],
        condition: str = "TRUE",
        *,
        ends: bool = False,
    ) -> None:
        self._session = session
        self._table = table
        self._columns = columns
        self._came = came
        self._went = went
        self._condition = condition
        self._ends = ends
        self.rows = 0

    def __iter__(self) -> Iterator[bytes]:
        """The buffers. Raises TransientError SLC-095, rows of the log are not among those that are read."""
        canonical = [one.canonical for one in self._columns]
        selected = ", ".join(one.selected for one in self._columns)
        query = f"SELECT {selected} FROM {qualified(self._table.name)} WHERE {self._condition}"
        with translated(f"reading {self._table.name}"), self._session.cursor(SSCursor) as cursor:
            cursor.execute(query)
            while some := cursor.fetchmany(_FETCHED):
                texts = [_texts(one, values) for one, values in zip(canonical, zip(*some, strict=True), strict=True)]
                if self._came:
                    left = list(filter(self._was_there, zip(*texts, strict=True)))
                    texts = [list(column) for column in zip(*left, strict=True)]
                yield from self._given(texts)
        if self._came:
            raise differs(self._table.name, "rows that the log has are not there")
        if self._ends:
            with translated(f"reading {self._table.name}"):
                execute(self._session, "ROLLBACK")
        yield from self._given([list(column) for column in zip(*self._went.elements(), strict=True)])

    def _was_there(self, row: _Row) -> bool:
        if not self._came.get(row):
            return True
        self._came[row] -= 1
        if not self._came[row]:
            del self._came[row]
        return False

    def _given(self, texts: list[list[str | None]]) -> Iterator[bytes]:
        if texts and texts[0]:
            self.rows += len(texts[0])
            yield lines_of([pa.array(column, pa.string()) for column in texts])


@dataclass(frozen=True)
class ChangedTable:
    """A table in a session's snapshot, and rows that came and went between the place and that.

    Attributes:
        part: whose rows alone are counted; None for the whole table.
    """

    session: Connection
    table: MasterTable
    columns: Sequence[MasterColumn]
    came: Counter[_Row]
    went: Counter[_Row]
    part: KeyPart | None = None

    def rows(self, condition: str = "TRUE", chosen: Callable[[_Row], bool] = lambda row: True) -> MariaRows:
        """The rows at the place for which a condition holds; the same as a function of the texts of a row."""
        came, went = (
            Counter({row: times for row, times in some.items() if chosen(row)}) for some in (self.came, self.went)
        )
        return MariaRows(self.session, self.table, self.columns, came, went, condition)


class MariaReading:
    """See `sluice.vendors.protocol.load.Reading`.

    Args:
        session: takes snapshots.
        place: whose rows are to be given.
    """

    keyed_by_text = True

    def __init__(self, info: ConnectionInfo, session: Connection, place: LogPlace) -> None:
        self._info = info
        self._session = session
        self._place = place
        # The place of the session's snapshot.
        self._here = place
        if session.server.tells_snapshots:
            self._here = begun(session, place)

    def chunk(self, chunk: Chunk, columns: Sequence[str], form: RowFormat) -> MariaRows:
        """The rows of a chunk."""
        changed = self.changed(chunk.leaf.table, columns, chunk)
        return changed.rows() if changed.part is None else changed.rows(changed.part.condition)

    def table(self, name: TableName, columns: Sequence[str]) -> MariaRows:
        """Every row of a table, in the text format, in no order."""
        return self.changed(name, columns).rows()

    def changed(self, name: TableName, columns: Sequence[str], chunk: Chunk | None = None) -> ChangedTable:
        """A table with what happened to its rows since the place; to those of a chunk, if one is given."""
        if not self._session.server.tells_snapshots:
            with translated(f"reading {name}"):
                here = begun_apart(self._info, self._session, name, PATIENCE_S)
            if here is None:
                raise differs(name, "it is not there")
            self._here = here
        return self._changed(name, columns, chunk)

    def _changed(self, name: TableName, columns: Sequence[str], chunk: Chunk | None = None) -> ChangedTable:
        """The same in the session's snapshot."""
        with translated(f"reading {name}"):
            found = described(self._session, name)
            if found is None:
                raise differs(name, "it is not there")
            by_name = {one.name: one for one in found.columns}
            if missing := set(columns) - by_name.keys():
                raise differs(name, f"it has no {', '.join(sorted(missing))}")
            try:
                part = part_of(chunk, found) if chunk else None
                came, went = self._between(name, columns, part)
            except KeyAltered:
                raise differs(name, "its key was altered") from None
        return ChangedTable(self._session, found, [by_name[column] for column in columns], came, went, part)

    def keyed(self, name: TableName, columns: Sequence[str], key: Sequence[str], wanted: Sequence[Key]) -> KeyedRows:
        """The rows of these keys, in the text format; all of the table are read for them."""
        return KeyedRows(self.table(name, columns), columns, key, wanted)

    def shape(self, within: KeyRange) -> Layout | None:
        """The columns of a range's table and its key; None if it was dropped, or has another name by now: then the log
        has, or gets, its end. From here on nobody alters it, until its block is read.
        """
        name = within.table
        with translated(f"reading {name}"):
            # Behind a block that was read nothing is held any more.
            is_told = self._session.server.tells_snapshots
            here = begun(self._session, self._place) if is_told else begun_apart(self._info, self._session, name)
            if here is None:
                return None
            self._here = here
            if not held(self._session, name):
                return None
            found = described(self._session, name)
            if found is None:
                raise differs(name, "it is not shown to the account")
            # The catalog is that of now.
            self._changes(name, [one.name for one in found.columns], None, self._here, end_of_log(self._session))
        return found.layout()

    def block(self, within: KeyRange, columns: Sequence[str], rows: int) -> tuple[MariaRows, Key | None]:
        """The next so many rows of a range, in the text format; with the key of the last, None if no more follow. Its
        end is a key of the session's snapshot, which is as good as one of the place.
        """
        name = within.table
        with translated(f"reading {name}"):
            order = key_order(self._session, name)
            if order is None or order.sign != within.order:
                raise another_key(name)
            changed = self._changed(name, [*columns, *order.names])
            table = changed.table
            by_name = {one.name: one for one in table.columns}
            key = [by_name[one] for one in order.names]
            end = composed(
                "read/end",
                key=", ".join(one.selected for one in key),
                table=qualified(name),
                within=order.between(within),
                sorted=order.sorted,
                before=str(rows - 1),
            )
            found = execute(self._session, end)
            last = tuple(one.canonical(value) for one, value in zip(key, found[0], strict=True)) if found else None
            count = len(columns)
            keys = {row[count:]: None for row in (*changed.came, *changed.went)}
            inside = order.inside(self._session, [_whole(name, one) for one in keys], within, last)
        came, went = (
            Counter({row[:count]: times for row, times in some.items() if row[count:] in inside})
            for some in (changed.came, changed.went)
        )
        condition = order.between(within, last)
        read_ = MariaRows(self._session, table, changed.columns[:count], came, went, condition, ends=True)
        return read_, last

    def _between(
        self, name: TableName, columns: Sequence[str], part: KeyPart | None
    ) -> tuple[Counter[_Row], Counter[_Row]]:
        """Rows that came between the place and the session's snapshot, and rows that went."""
        return self._changes(name, columns, part, self._place, self._here)

    def _changes(
        self, name: TableName, columns: Sequence[str], part: KeyPart | None, begin: LogPlace, end: LogPlace
    ) -> tuple[Counter[_Row], Counter[_Row]]:
        """Rows that came between two places of the log, and rows that went."""
        came: Counter[_Row] = Counter()
        went: Counter[_Row] = Counter()
        if begin >= end:
            return came, went
        with closing(connect_to_master(self._info, "catalog")) as beside:
            layouts = Layouts({}, [], lambda: Charsets(beside), lambda table: described(beside, table))
            wanted = {name: "IUD"}
            stream = Stream(begin, "", layouts, wanted.get, end)
            stream.server = beside.server
            for batch in stream.batches(read(self._info, begin, end)):
                actions, numbers = batch.column("action").to_pylist(), batch.column("layout").to_pylist()
                if Action.TRUNCATE in actions:
                    raise differs(name, "it was emptied or dropped")
                for side, counted in (("new", came), ("old", went)):
                    for number, image in zip(numbers, batch.column(side).to_pylist(), strict=True):
                        if image is None:
                            continue
                        names = [one.name for one in stream.used[number].columns]
                        if part is None or part.has(names, image):
                            counted[_chosen(name, stream.used[number], image, columns)] += 1
            if layouts.met or len(stream.used) > 1:
                raise differs(name, "it was altered")
        both = came & went
        return came - both, went - both


@contextmanager
def reading(info: ConnectionInfo, snapshot_id: str, trusted: Collection[str] = ()) -> Iterator[MariaReading]:
    """Rows of a place of the log, in a session of its own.

    Raises:
        StrangeSource: SLC-404, the log does not have the place any more.
    """
    place = LogPlace.parsed(snapshot_id)
    with translated("reading the master"), closing(connect_to_master(info, f"read {snapshot_id}")) as session:
        yield MariaReading(info, session, place)


def _whole(name: TableName, key: Sequence[str | None]) -> Key:
    whole = tuple(text for text in key if text is not None)
    if len(whole) != len(key):
        raise differs(name, "its key was altered")
    return whole


def _texts(canonical: Canonical, values: Sequence[str | bytes | None]) -> list[str | None]:
    return [None if value is None else canonical(value) for value in values]


def _chosen(name: TableName, layout: Layout, image: Sequence[str | None], columns: Sequence[str]) -> _Row:
    places = {one.name: place for place, one in enumerate(layout.columns)}
    try:
        return tuple(image[places[column]] for column in columns)
    except KeyError:
        raise differs(name, "it was altered") from None
