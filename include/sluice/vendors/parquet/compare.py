"""Compares a table of files with its master's (R10)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from sluice.apply.mapping.table_view import shape_lines
from sluice.connections import ConnectionInfo, find_salt, open_sealed
from sluice.errors import SluiceError
from sluice.values.copy_text import columns_of
from sluice.vendors.parquet.directory import ReplicationDirectory, reachable
from sluice.vendors.parquet.types import tokens, typed
from sluice.vendors.parquet.versions import Table, Version
from sluice.vendors.parquet.write.data_files import TableFiles
from sluice.vendors.parquet.write.mode import MODES
from sluice.vendors.protocol.compare import Comparison
from sluice.vendors.registry import master
from sluice.verify.bucket_compare import Row, compare, split_values
from sluice.verify.difference import Difference, RowReader

Rows = Iterator[tuple[pa.Table, int]]


def compare_table(job: Comparison) -> Difference:
    """Compare one table, streaming both sides. Raises SluiceError if one of them cannot be read."""
    table, replica = _replica(job)
    names = [column.name for column in table.kept]
    connections = open_sealed(job.sealed)
    salt = find_salt(connections, job.salt)
    key = job.view.layout.key_names

    def master_rows() -> Iterator[Row]:
        return _tokens(_master(connections[job.master.connection], job, salt, table), key, names)

    reader = RowReader(tuple(names), bool(key), split_values, job.keeping)
    return compare(master_rows, lambda: _tokens(replica(), key, names), job.sample, reader)


def _tokens(rows: Rows, key: Sequence[str], columns: Sequence[str]) -> Iterator[Row]:
    for some, weight in rows:
        images = tokens(some, columns).to_pylist()
        keys = tokens(some, key).to_pylist() if key else images
        yield from ((one, image, weight) for one, image in zip(keys, images, strict=True))


def _replica(job: Comparison) -> tuple[Table, Callable[[], Rows]]:
    path = Path(job.replica.snapshot_id)
    with reachable(f"comparing {job.view.master.name}"):
        version = Version.from_json(json.loads(path.read_text(encoding="utf-8")))
    table = version.tables.get(job.view.layout.name)
    known = {column.name for column in table.columns} if table else set()
    if table is None or known != {column.name for column in job.view.layout.columns}:
        raise SluiceError(
            153,
            f"{job.view.master.name} has other columns than the files of slave {job.slave}, or none are there",
            "make the files anew by initial_update",
        )
    files = TableFiles(ReplicationDirectory(path.parents[1]), table.name, version.epoch, table.files)
    return table, lambda: MODES[version.keeps].rows(files, table)


def _master(info: ConnectionInfo, job: Comparison, salt: bytes, table: Table) -> Rows:
    view = job.view
    shape = view.shape(salt) if view.is_shaped else None
    with master(job.master.vendor).read(info, job.master.snapshot_id, job.master.trusted) as reading:
        for buffer in reading.table(view.master.name, view.read_columns):
            lines = shape_lines(view, shape, buffer, view.written_columns)[0] if shape else buffer
            texts = dict(zip(view.written_columns, columns_of(lines, len(view.written_columns)), strict=True))
            yield typed(table.kept, [texts[column.name] for column in table.kept]), 1
