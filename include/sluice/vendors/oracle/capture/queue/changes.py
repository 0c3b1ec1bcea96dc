"""Rows of ITEMS as changes of the log: each image by the columns that it names, at its place (R7)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from sluice.changelog.schema import NO_LAYOUT, SWEPT
from sluice.errors import SluiceError
from sluice.model.action import Action
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.statement import Statement
from sluice.vendors import table_commands
from sluice.vendors.oracle.capture.commands import NotCarried, altered
from sluice.vendors.oracle.capture.queue.longs import KeyValue
from sluice.vendors.oracle.capture.queue.row_images import Cell, cells, reader
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.noted import noted
from sluice.vendors.oracle.catalog.recorded import RecordedTable
from sluice.vendors.oracle.errors import altered_meanwhile
from sluice.vendors.oracle.visibility import transaction

_ROWS = {"INSERT": Action.INSERT, "UPDATE": Action.UPDATE, "DELETE": Action.DELETE}
_TRUNCATE = "TRUNCATE"
_ALTER, _DROP = "ALTER", "DROP"
_STATEMENT = "STATEMENT"

# The LONG of a row by the number of its table, its newest name, a column, an address and a key; None if there is none.
Fetch = Callable[[int, TableName, str, str, Sequence[KeyValue]], Cell]
# What `AddedColumns.read` does.
FetchAdded = Callable[[CapturedTable, Sequence[str], Mapping[str, Cell]], dict[str, Cell] | None]


@dataclass(frozen=True)
class Item:
    """One row of the sweep's query."""

    last: int
    id: str
    key: int
    relation: int
    action: str
    guid: str | None
    new: str | None
    old: str | None


class Changes:
    """What rows of ITEMS mean.

    Attributes:
        used: the layouts of the rows that were read.
        unknown: the numbers of tables of which values of added columns are not known.

    Args:
        known: recorded columns by the numbers of tables, in the order of their keys.
        polled: the notes of definitions that were compared with the catalog.
        is_gone: whether the table of a number was dropped.
        swept: the change number of the sweep that has read a statement first. The control store knows a statement by
            the name of its transaction from then on, also if that sweep did not get as far as the log.
    """

    def __init__(
        self,
        scn: int,
        known: Mapping[int, Sequence[RecordedTable]],
        fetch: Fetch,
        added: FetchAdded,
        polled: Collection[int],
        is_gone: Callable[[int], bool],
        swept: Callable[[int], int],
        items: str,
    ) -> None:
        self.used: dict[int, Layout] = {}
        self.unknown: set[int] = set()
        self._scn = scn
        self._known = known
        self._fetch = fetch
        self._added = added
        self._polled = polled
        self._is_gone = is_gone
        self._swept = swept
        self._items = items
        self._readers: dict[int, Callable[[Mapping[str, Cell], Mapping[str, Cell]], list[Cell]]] = {}

    def batch(self, items: Sequence[Item]) -> tuple[pa.RecordBatch, int]:
        """The changes of rows, columns as in `SWEPT`; with how many of the items are none, but notes of definitions.

        Raises:
            AlteredMeanwhile: SLC-095, a table was altered since it was compared with the catalog.
            SluiceError: SLC-068, a change cannot be read.
        """
        rows = [row for one in items if (row := self._change(one))]
        columns = zip(*rows, strict=True) if rows else [[] for _ in SWEPT]
        arrays = [pa.array(list(column), field.type) for column, field in zip(columns, SWEPT, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=SWEPT), len(items) - len(rows)

    def _change(self, item: Item) -> tuple[object, ...] | None:
        trans_key = transaction(self._scn, item.id)
        if item.action == _STATEMENT:
            trans_key = transaction(self._first_swept(item.new or ""), item.id)
            return (item.last, trans_key, item.key, NO_LAYOUT, Action.STATEMENT.value, [item.new], None)
        new: list[Cell] | None
        old: list[Cell] | None = None
        if item.action in _ROWS:
            action, (table, new, old) = _ROWS[item.action], self._rows(item)
        elif item.action == _TRUNCATE and (candidates := self._candidates(item)):
            action, table, new = Action.TRUNCATE, candidates[0], None
        elif found := self._command(item):
            action, table, text = found
            new = [text]
        else:
            return None
        self.used[table.number] = table.layout
        return (item.last, trans_key, item.key, table.number, action.value, new, old)

    def _first_swept(self, text: str) -> int:
        try:
            return self._swept(Statement.from_json(text).id)
        except ValueError:
            # Whoever publishes it refuses it.
            return self._scn

    def _command(self, item: Item) -> tuple[Action, RecordedTable, str] | None:
        """What is sent of a note; None if that is nothing: no column changed, or its table is LOST."""
        if item.action == _ALTER and item.relation and item.key not in self._polled:
            raise altered_meanwhile(
                f"a table was altered between a look at it and the sweep that read the note with key {item.key}"
            )
        tables = self._known.get(item.relation, ())
        former = [one for one in tables if one.number < item.key]
        if item.new is None or not former:
            return None
        if item.action == _DROP:
            # The note is made before the command, which may fail.
            gone = self._is_gone(item.relation)
            return (Action.DROP, former[-1], table_commands.drop(former[-1].layout)) if gone else None
        behind = next((one for one in tables if one.number == item.key), None)
        if item.action != _ALTER or behind is None:
            return None
        try:
            text = altered(former[-1].table, noted(item.relation, item.new), item.old)
        except NotCarried:
            return None
        return Action.ALTER, behind, text

    def _candidates(self, item: Item) -> list[RecordedTable]:
        """Recorded columns of a table: those that hold at a key, then older ones, then younger ones."""
        known = self._known.get(item.relation, ())
        older = [one for one in known if one.number <= item.key]
        return older[::-1] + [one for one in known if one.number > item.key]

    def _rows(self, item: Item) -> tuple[RecordedTable, list[Cell] | None, list[Cell] | None]:
        candidates = self._candidates(item)
        if not candidates:
            raise self._unreadable(item, f"its table, number {item.relation}, has no recorded columns")
        name = candidates[0].table.name
        try:
            new, old = (None if image is None else cells(image) for image in (item.new, item.old))
            named = (new or old or {}).keys()
            table = next((one for one in candidates if _captured(one) == named), None)
            if table is None or (new is None and old is None):
                raise ValueError(f"it has the columns {', '.join(named)}")
            read = self._readers.setdefault(table.number, _reader(table))
            made = [None if image is None else read(image, {}) for image in (new, old)]
            if new and made[0] and item.guid and table.table.longs:
                made[0] = read(new, self._longs(item, item.guid, table, made[0]))
        except ValueError as error:
            raise self._unreadable(item, f"its image does not fit the recorded columns of {name}: {error}") from None
        if made[0] and (wider := self._wider(item, candidates[0], table, made[0])):
            former = dict(zip(_names(table), made[1] or (), strict=False))
            return candidates[0], wider, made[1] and [former.get(name) for name in _names(candidates[0])]
        return table, made[0], made[1]

    def _wider(self, item: Item, at: RecordedTable, table: RecordedTable, row: list[Cell]) -> list[Cell] | None:
        """The row with the columns that were added in front of a change, which its trigger did not know yet; None if
        there are none, or the row is not there any more.
        """
        added = [name for name in _names(at) if name not in _names(table)]
        if at.number > item.key or not added or not set(_names(table)) < set(_names(at)):
            return None
        known = dict(zip(_names(table), row, strict=True))
        try:
            now = replace(at.table, name=self._known[item.relation][-1].table.name)
            found = self._added(now, added, known)
        except LookupError:
            self.unknown.add(item.relation)
            return None
        return None if found is None else [(known | found)[name] for name in _names(at)]

    def _longs(self, item: Item, place: str, table: RecordedTable, row: Sequence[Cell]) -> dict[str, Cell]:
        name = self._known[item.relation][-1].table.name
        kinds = table.table.kinds
        key = [KeyValue(table.table.columns[at].name, kinds[at], row[at]) for at in table.layout.key]
        return {one: self._fetch(item.relation, name, one, place, key) for one in table.table.longs}

    def _unreadable(self, item: Item, why: str) -> SluiceError:
        return SluiceError(
            68,
            f"the change with key {item.key} in ITEMS cannot be read: {why}",
            "a defect, or somebody wrote to ITEMS: keep a copy of the queue for a report, then give that up by "
            f"`{deletion(self._items, 'repl_key', item.key)}` on the source, and run initial_update for the slaves of "
            "this source",
        )


def deletion(items: str, column: str, number: object) -> str:
    """The statement that takes changes out of ITEMS, for an administrator."""
    return f"DELETE FROM {items} WHERE {column} = {number}; COMMIT"


def _names(one: RecordedTable) -> list[str]:
    return [column.name for column in one.table.columns]


def _captured(one: RecordedTable) -> set[str]:
    return {column.name for column in one.table.columns} - set(one.table.longs)


def _reader(one: RecordedTable) -> Callable[[Mapping[str, Cell], Mapping[str, Cell]], list[Cell]]:
    return reader([column.name for column in one.table.columns], one.table.kinds)
