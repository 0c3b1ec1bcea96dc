"""The master's rows as of a change number, in Arrow batches, as lines of canonical texts."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

import oracledb
import pyarrow as pa
import pyarrow.compute as pc

from sluice.connections import ConnectionInfo
from sluice.errors import VALUES_ENV, SluiceError, TransientError
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.values.copy_text import lines_of
from sluice.values.keyed_rows import KeyedRows
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.recorded import layout_of
from sluice.vendors.oracle.catalog.tables import described, expect_seen_whole
from sluice.vendors.oracle.errors import translated
from sluice.vendors.oracle.names import composed, qualified, quoted
from sluice.vendors.oracle.read.key_order import key_order, relation_of
from sluice.vendors.oracle.read.snapshot_id import SnapshotId
from sluice.vendors.oracle.session import connect, execute
from sluice.vendors.oracle.types import Captured
from sluice.vendors.oracle.values import as_text, canonical
from sluice.vendors.protocol.read import Chunk, Key, KeyRange, RowFormat, another_key

# Rows that the driver gives at a time; fewer if they have large objects.
_FETCHED, _FETCHED_LONG = 10_000, 500
# Between the addresses of rows in `Leaf.written_as`.
_CUT = " "


class OracleRows:
    """See `sluice.vendors.protocol.load.CopyStream`.

    Args:
        kinds: how the values of each column are read.
    """

    def __init__(
        self,
        session: oracledb.Connection,
        name: TableName,
        statement: str,
        values: Mapping[str, object],
        kinds: Sequence[Captured],
    ) -> None:
        self._session = session
        self._name = name
        self._statement = statement
        self._values = values
        self._kinds = kinds
        self.rows = 0

    def __iter__(self) -> Iterator[bytes]:
        """The buffers. Raises TransientError SLC-482, SLC-095, rows are not shown as they were any more."""
        size = batch_size(any(how.is_long for how in self._kinds))
        with translated(f"reading {self._name}"):
            for frame in self._session.fetch_df_batches(self._statement, dict(self._values), size=size):
                table = pa.table(frame)
                if table.num_rows:
                    self.rows += table.num_rows
                    yield lines_of(texts(table, self._kinds))


def batch_size(has_long: bool) -> int:
    """How many rows are fetched at a time."""
    return _FETCHED_LONG if has_long else _FETCHED


def expressions(values: Sequence[str], kinds: Sequence[Captured], parts: Mapping[str, str]) -> str:
    """The columns of a query: each value as it is read, and behind them which large objects are empty. Of an empty one
    the driver may give what it gives of NULL.

    Args:
        values: the columns of the table, as the query names them.
        parts: the functions that some are read by.
    """
    chosen = list(enumerate(zip(values, kinds, strict=True)))
    read = [f'{how.read.format(**{**parts, "value": value})} AS "C{number}"' for number, (value, how) in chosen]
    empty = [
        f'{composed("read/empty_long", column=value)} AS "E{number}"'
        for number, (value, how) in chosen
        if how.empty is not None
    ]
    return ", ".join([*read, *empty])


def texts(table: pa.Table, kinds: Sequence[Captured]) -> list[pa.Array]:
    """The canonical texts of columns, from what a query of `expressions` gave.

    Raises:
        SluiceError: SLC-362, the server gave what is no value of a type.
    """
    width = len(kinds)
    found = [_texts(column, how) for column, how in zip(table.columns[:width], kinds, strict=True)]
    empty = iter(table.columns[width:])
    return [
        values if how.empty is None else _emptied(how.empty, values, next(empty))
        for how, values in zip(kinds, found, strict=True)
    ]


def row_texts(row: Sequence[object], kinds: Sequence[Captured]) -> list[str | None]:
    """The same of one row. Raises ValueError for what is no value of a type."""
    empty = iter(row[len(kinds) :])
    found: list[str | None] = []
    for value, how in zip(row, kinds, strict=False):
        is_empty = how.empty is not None and next(empty) is not None
        found.append(how.empty if is_empty else None if value is None else canonical(how)(as_text(value)))
    return found


def selecting(
    table: CapturedTable, columns: Sequence[str], place: SnapshotId, within: str = ""
) -> tuple[str, list[Captured]]:
    """The query of these columns of a table, and how the values of each are read."""
    kinds = {column.name: how for column, how in zip(table.columns, table.kinds, strict=True)}
    if missing := set(columns) - kinds.keys():
        raise moved(table.name, f"it has no {', '.join(sorted(missing))}")
    chosen = [kinds[name] for name in columns]
    read = expressions([f"source.{quoted(name)}" for name in columns], chosen, place.parts)
    filled = {"columns": read, "table": qualified(table.name), "within": within}
    return composed("read/rows", **filled).strip(), chosen


def bounds(chunk: Chunk) -> tuple[str, dict[str, object]]:
    """The condition of a chunk. The first one has no begin, and the last one no end, so nothing lies outside of all.

    All of its rows are read, whatever `since` says: ORA_ROWSCN, which alone could tell newer ones, is not supported as
    of a change number.
    """
    cuts = cuts_of(chunk.leaf.written_as)
    pieces: dict[str, object] = {}
    conditions = []
    if chunk.low > 0:
        pieces["low"] = cuts[chunk.low - 1]
        conditions.append(composed("read/from_row"))
    if chunk.high is not None and chunk.high < chunk.leaf.extent:
        pieces["high"] = cuts[chunk.high - 1]
        conditions.append(composed("read/to_row"))
    return " ".join(conditions), pieces


def written_as(place: SnapshotId, cuts: Sequence[str]) -> str:
    """What tells a dump's pieces of a table from those of every other dump: where it was read, and the cuts."""
    return _CUT.join([*cuts, str(place)])


def cuts_of(text: str) -> list[str]:
    """The addresses of rows that `written_as` put there."""
    cuts: list[str] = []
    while (one := text.partition(_CUT))[1] and "@" not in one[0]:
        cuts.append(one[0])
        text = one[2]
    return cuts


class OracleReading:
    """See `sluice.vendors.protocol.load.Reading`."""

    keyed_by_text = True

    def __init__(self, session: oracledb.Connection, place: SnapshotId) -> None:
        self._session = session
        self._place = place

    def chunk(self, chunk: Chunk, columns: Sequence[str], form: RowFormat) -> OracleRows:
        """The rows of a chunk."""
        return self._rows(chunk.leaf.table, columns, *bounds(chunk))

    def table(self, name: TableName, columns: Sequence[str]) -> OracleRows:
        """Every row of a table, in the text format, in no order."""
        return self._rows(name, columns, "", {})

    def keyed(self, name: TableName, columns: Sequence[str], key: Sequence[str], wanted: Sequence[Key]) -> KeyedRows:
        """The rows of these keys, in the text format; all of the table are read for them."""
        return KeyedRows(self.table(name, columns), columns, key, wanted)

    def shape(self, within: KeyRange) -> Layout | None:
        """The columns of a range's table and its key; None if the table that it belongs to does not bear its name any
        more. That is asked of the catalog of the whole database, which hides nothing.
        """
        name = within.table
        with translated(f"reading {name}"):
            called = execute(self._session, composed("read/called"), {"relation": relation_of(within.order)})
            if [TableName(*one) for one in called] != [name]:
                return None
            table = described(self._session, name)
        if table is None:
            raise moved(name, "it is not shown to the user")
        return layout_of(table)

    def block(self, within: KeyRange, columns: Sequence[str], rows: int) -> tuple[OracleRows, Key | None]:
        """The next so many rows of a range, in the text format; with the key of the last, None if no more follow.

        Raises:
            TransientError: SLC-482, SLC-095, the server does not show the rows as they were any more.
        """
        name = within.table
        with translated(f"reading {name}"):
            table = described(self._session, name)
            if table is None:
                raise moved(name, "it is not there")
            order = key_order(table)
            if order is None or order.sign != within.order:
                raise another_key(name)
            left, parts = order.bounds(within), self._place.parts
            read = expressions(order.names, order.kinds, parts)
            filled = {"columns": read, "table": qualified(name), "within": left.condition, "sorted": order.sorted}
            values = {"scn": self._place.scn, "before": rows - 1, **left.values}
            found = execute(self._session, composed("read/end", **filled), values)
        last = order.key(found[0]) if found else None
        asked = order.bounds(within, last)
        return self._rows(name, columns, asked.condition, asked.values), last

    def _rows(self, name: TableName, columns: Sequence[str], within: str, bounding: Mapping[str, object]) -> OracleRows:
        with translated(f"reading {name}"):
            table = described(self._session, name)
            expect_seen_whole(self._session, name)
        if table is None:
            raise moved(name, "it is not there")
        statement, kinds = selecting(table, columns, self._place, within)
        return OracleRows(self._session, name, statement, {"scn": self._place.scn, **bounding}, kinds)


@contextmanager
def reading(info: ConnectionInfo, snapshot_id: str, trusted: Collection[str] = ()) -> Iterator[OracleReading]:
    """Rows as of a change number, in a session of its own."""
    place = SnapshotId.parsed(snapshot_id)
    with translated("reading the master"), closing(connect(info, "read")) as session:
        yield OracleReading(session, place)


def moved(name: TableName, why: str) -> TransientError:
    """A table cannot be given as it was."""
    return TransientError(
        95,
        f"{name} cannot be read as it was: {why}",
        "trigger the run again, if it is not tried again by itself; nothing was changed",
    )


def _texts(column: pa.ChunkedArray, how: Captured) -> pa.Array:
    text = canonical(how)
    try:
        return pa.array([None if one is None else text(as_text(one)) for one in column.to_pylist()], pa.string())
    except ValueError as error:
        shown = f": {error}" if os.environ.get(VALUES_ENV) else ""
        raise SluiceError(
            362,
            f"the server gave a value that is none of the type {how.type}, as which it is read{shown}",
            "a defect, or a type that this version of the server writes otherwise: report it with that version. "
            f"`{VALUES_ENV}=1` shows the value. Until then leave the column out (`exclude_columns`)",
        ) from None


def _emptied(text: str, values: pa.Array, empty: pa.ChunkedArray) -> pa.Array:
    return pc.if_else(pc.is_valid(empty.combine_chunks()), pa.scalar(text, pa.string()), values)
