"""The rows that a comparison keeps, as files that are made while they are sent: few rows are in memory.

A file says at its end how many rows differ and are not kept, as `more`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from sluice.context import Context
from sluice.model.names import Pair
from sluice.monitor import comparison_status
from sluice.monitor.comparison_status import ComparedRow, Named
from sluice.store import comparisons
from sluice.store.comparisons import TableReport

# Rows that are read at once. A row of very many columns may have a megabyte.
_AT_ONCE = 500
_VALUES = pa.map_(pa.string(), pa.string())
_SCHEMA = pa.schema(
    [
        ("table", pa.string()),
        ("number", pa.int32()),
        ("kind", pa.string()),
        ("key", _VALUES),
        ("columns", pa.list_(pa.string())),
        ("master", _VALUES),
        ("slave", _VALUES),
    ]
)


def as_json(context: Context, pair: Pair, report: int) -> Iterator[bytes]:
    """An object with the rows, a row a line. Raises UnknownName SLC-003 at once, before anything is sent."""
    return _json(context, comparison_status.find_tables(context, pair, report))


def as_parquet(context: Context, pair: Pair, report: int) -> Iterator[bytes]:
    """A Parquet file. Raises UnknownName SLC-003 at once, before anything is sent."""
    return _parquet(context, comparison_status.find_tables(context, pair, report))


def _pieces(context: Context, table: TableReport) -> Iterator[list[ComparedRow]]:
    """Rows of a table, each time in a transaction of their own: a slow reader holds none."""
    after = -1
    while rows := comparisons.rows_of(context.store, table.id, _AT_ONCE, after):
        yield [comparison_status.name_values(table, number, row, values=True) for number, row in rows]
        after = rows[-1][0]


def _json(context: Context, tables: list[TableReport]) -> Iterator[bytes]:
    between, more = "\n", sum(table.different for table in tables)
    yield b'{"rows": ['
    for table in tables:
        for rows in _pieces(context, table):
            lines = []
            for row in rows:
                sides = {"master": row.master, "slave": row.slave}
                identity = {"table": str(table.table), "number": row.number}
                entry = {**identity, "kind": row.kind, "key": row.key, "columns": row.columns, **sides}
                lines.append(json.dumps(entry, ensure_ascii=False))
            yield (between + ",\n".join(lines)).encode()
            between, more = ",\n", more - len(rows)
    yield f'\n], "more": {more}}}\n'.encode()


def _parquet(context: Context, tables: list[TableReport]) -> Iterator[bytes]:
    buffer, more = _Buffer(), sum(table.different for table in tables)
    with pq.ParquetWriter(buffer, _SCHEMA) as writer:
        for table in tables:
            for rows in _pieces(context, table):
                columns = [
                    [str(table.table)] * len(rows),
                    [row.number for row in rows],
                    [row.kind for row in rows],
                    [_pairs(row.key) for row in rows],
                    [list(row.columns) for row in rows],
                    [_pairs(row.master) for row in rows],
                    [_pairs(row.slave) for row in rows],
                ]
                arrays = [pa.array(values, field.type) for values, field in zip(columns, _SCHEMA, strict=True)]
                writer.write_table(pa.table(arrays, schema=_SCHEMA))
                more -= len(rows)
                yield buffer.take()
        writer.add_key_value_metadata({"more": str(more)})
    yield buffer.take()


def _pairs(values: Named | None) -> list[tuple[str, str | None]] | None:
    return None if values is None else list(values.items())


class _Buffer(io.RawIOBase):
    """A file that is taken away while it is written."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, some: object) -> int:
        part = bytes(some)  # type: ignore[call-overload]
        self._parts.append(part)
        self._size += len(part)
        return len(part)

    def tell(self) -> int:
        return self._size

    def take(self) -> bytes:
        """The bytes written since the last call."""
        written = b"".join(self._parts)
        self._parts.clear()
        return written
