"""Compares a table whose rows both sides give as canonical texts, where databases do not sort or hash alike (R10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.mapping.table_view import shaped_lines
from sluice.connections import open_sealed, salt_of
from sluice.values.copy_text import columns_of
from sluice.vendors.protocol.compare import Comparison
from sluice.vendors.registry import master
from sluice.verify.bucket_compare import Row, compare, values_of
from sluice.verify.difference import Difference, RowReader

# Rows in pieces, each with an array of canonical texts for each column.
Texts = Iterator[Sequence[pa.Array]]


def compare_texts(
    job: Comparison, names: Sequence[str], key: Sequence[str], replica: Callable[[], Texts]
) -> Difference:
    """Compare one table, streaming both sides.

    Args:
        names: its columns on the slave, in the order of the layout.
        key: those of its primary key; none if it has none.
        replica: the slave's rows; it may be called again.
    """
    reader = RowReader(tuple(names), bool(key), values_of, job.keeping)
    places = [names.index(one) for one in key]
    return compare(lambda: _rows(_master(job), places), lambda: _rows(replica(), places), job.sample, reader)


def _master(job: Comparison) -> Texts:
    connections = open_sealed(job.sealed)
    view = job.view
    shape = view.shape(salt_of(connections, job.salt)) if view.shaped else None
    info = connections[job.master.connection]
    with master(job.master.vendor).read(info, job.master.snapshot_id, job.master.trusted) as reading:
        for buffer in reading.table(view.master.name, view.read):
            lines = shaped_lines(view, shape, buffer, view.written)[0] if shape else buffer
            yield columns_of(lines, len(view.written))


def _rows(pieces: Texts, key: Sequence[int]) -> Iterator[Row]:
    for columns in pieces:
        images = _tokens(columns).to_pylist()
        keys = _tokens([columns[place] for place in key]).to_pylist() if key else images
        yield from ((one, image, 1) for one, image in zip(keys, images, strict=True))


def _tokens(columns: Sequence[pa.Array]) -> pa.Array:
    """For each row bytes that are equal where its values are."""
    cells = [pc.fill_null(pc.replace_substring(one.cast(pa.large_string()), "\\", "\\\\"), "\\N") for one in columns]
    escaped = [pc.replace_substring(cell, "\t", "\\t") for cell in cells]
    return pc.cast(pc.binary_join_element_wise(*escaped, pa.scalar("\t", pa.large_string())), pa.large_binary())
