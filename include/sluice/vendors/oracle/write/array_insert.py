"""Rows into a table by arrays of bound values: one turn takes thousands of them.

The server goes on behind a row that it refuses, and tells the place of each: so an error names its row. Nothing of the
array stays then, since the transaction ends. The driver's `direct_path_load` would be faster. The server refuses it
within a transaction that has begun (ORA-26085). So it commits apart from the claim of its chunk (R3), and holds no
fence: a loader that another job took over could add rows (R6). It is not used.

Source: python-oracledb's manual, "Batch Statement Execution and Bulk Loading"; SQL Language Reference, "INSERT".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import oracledb
import pyarrow as pa

from sluice.model.names import TableName
from sluice.vendors.oracle.catalog.slave_tables import names_of
from sluice.vendors.oracle.errors import explained
from sluice.vendors.oracle.names import composed
from sluice.vendors.oracle.slave_columns import Stored, values_of

# Rows of one turn, and the bytes or characters of their large objects.
_ROWS = 5_000
_LONG = 16 << 20

Values = tuple[Any, ...]


def insert(
    session: oracledb.Connection, into: str, table: TableName, columns: Sequence[Stored], texts: Sequence[pa.Array]
) -> None:
    """Put rows into a table, within the transaction of a session.

    Args:
        into: the table, or its stage, as an identifier.
        table: its name, for errors.
        texts: an array of canonical texts for each column.

    Raises:
        SluiceError: SLC-431, a value that a column cannot hold; the text has the number of its row.
    """
    # What is long comes last: the server takes no longer value behind it.
    order = sorted(range(len(columns)), key=lambda place: columns[place].is_long)
    ordered = [columns[place] for place in order]
    cells = [values_of(table, columns[place], texts[place]) for place in order]
    for empties, rows in _alike(ordered, list(zip(*cells, strict=True))):
        bound = [place for place in range(len(ordered)) if place not in empties]
        statement = _statement(into, ordered, empties)
        for begin, some in _pieces(ordered, rows):
            _execute(session, statement, [ordered[place].bound for place in bound], table, begin, some)


def _alike(columns: Sequence[Stored], rows: list[Values]) -> Iterator[tuple[frozenset[int], list[Values]]]:
    """Rows by which of their large objects are empty. No place of a statement takes an empty one: it would be NULL."""
    long = [place for place, one in enumerate(columns) if one.is_long]
    if not long:
        yield frozenset(), rows
        return
    found: dict[frozenset[int], list[Values]] = {}
    for row in rows:
        empties = frozenset(place for place in long if row[place] is not None and not row[place])
        kept = tuple(value for place, value in enumerate(row) if place not in empties) if empties else row
        found.setdefault(empties, []).append(kept)
    yield from found.items()


def _statement(into: str, columns: Sequence[Stored], empties: frozenset[int]) -> str:
    places, number = [], 0
    for place, one in enumerate(columns):
        if place in empties:
            places.append(one.empty)
        else:
            number += 1
            places.append(one.taken(f":{number}"))
    names = names_of([one.column.name for one in columns])
    return composed("write/insert", table=into, columns=names, places=", ".join(places))


def _pieces(columns: Sequence[Stored], rows: list[Values]) -> Iterator[tuple[int, list[Values]]]:
    """Rows in pieces, each with the number of rows before it; a row that alone has more is a piece."""
    if not any(one.is_long for one in columns):
        yield from ((begin, rows[begin : begin + _ROWS]) for begin in range(0, len(rows), _ROWS))
        return
    begin = size = 0
    for place, row in enumerate(rows):
        length = sum(len(value) for value in row if isinstance(value, (str, bytes)))
        if place > begin and (size + length > _LONG or place - begin >= _ROWS):
            yield begin, rows[begin:place]
            begin, size = place, 0
        size += length
    if begin < len(rows):
        yield begin, rows[begin:]


def _execute(
    session: oracledb.Connection,
    statement: str,
    types: Sequence[Any],
    table: TableName,
    before: int,
    rows: list[Values],
) -> None:
    with session.cursor() as cursor:
        if not types:
            # Every value of these rows is an empty object, which the statement has.
            for _ in rows:
                cursor.execute(statement, {})
            return
        cursor.setinputsizes(*types)
        cursor.executemany(statement, rows, batcherrors=True)
        if errors := cursor.getbatcherrors():
            first = min(errors, key=lambda one: one.offset)
            place = before + first.offset + 1
            raise explained(oracledb.DatabaseError(first), f"storing row {place} of those that came for {table}")
