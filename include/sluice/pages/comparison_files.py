"""All rows of a comparison that differ, as files that are made while they are sent: few rows are in memory."""

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
        ("kind", pa.string()),
        ("key", _VALUES),
        ("columns", pa.list_(pa.string())),
        ("master", _VALUES),
        ("slave", _VALUES),
    ]
)
_Some = Iterator[tuple[str, list[ComparedRow]]]


def as_json(context: Context, pair: Pair, report: int) -> Iterator[bytes]:
    """An array of objects. Raises UnknownName SLC-510 at once, before anything is sent."""
    return _json(_some(context, comparison_status.reported(context, pair, report)))


def as_parquet(context: Context, pair: Pair, report: int) -> Iterator[bytes]:
    """A Parquet file. Raises UnknownName SLC-510 at once, before anything is sent."""
    return _parquet(_some(context, comparison_status.reported(context, pair, report)))


def _some(context: Context, tables: list[TableReport]) -> _Some:
    """Rows of each table, each time in a transaction of their own: a slow reader holds none."""
    for table in tables:
        after = -1
        while found := comparisons.rows_of(context.store, table.id, _AT_ONCE, after):
            yield (
                str(table.table),
                [comparison_status.named(table, after + place, row, values=True) for place, row in enumerate(found, 1)],
            )
            after += len(found)


def _json(some: _Some) -> Iterator[bytes]:
    between = "[\n"
    for table, rows in some:
        lines = []
        for row in rows:
            sides = {"master": row.master, "slave": row.slave}
            told = {"table": table, "kind": row.kind, "key": row.key, "columns": row.columns, **sides}
            lines.append(json.dumps(told, ensure_ascii=False))
        yield (between + ",\n".join(lines)).encode()
        between = ",\n"
    yield b"[]\n" if between == "[\n" else b"\n]\n"


def _parquet(some: _Some) -> Iterator[bytes]:
    sent = _Sent()
    with pq.ParquetWriter(sent, _SCHEMA) as writer:
        for table, rows in some:
            columns = [
                [table] * len(rows),
                [row.kind for row in rows],
                [_pairs(row.key) for row in rows],
                [list(row.columns) for row in rows],
                [_pairs(row.master) for row in rows],
                [_pairs(row.slave) for row in rows],
            ]
            arrays = [pa.array(values, field.type) for values, field in zip(columns, _SCHEMA, strict=True)]
            writer.write_table(pa.table(arrays, schema=_SCHEMA))
            yield sent.take()
    yield sent.take()


def _pairs(values: Named | None) -> list[tuple[str, str | None]] | None:
    return None if values is None else list(values.items())


class _Sent(io.RawIOBase):
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
        """What was written since the last time."""
        found = b"".join(self._parts)
        self._parts.clear()
        return found
