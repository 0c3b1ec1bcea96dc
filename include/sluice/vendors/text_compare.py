"""Compares a table whose rows both sides give as canonical texts, where databases do not sort alike (R10).

If both servers can add up digests of these texts, only rows of buckets whose sums differ are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext

import pyarrow as pa
import pyarrow.compute as pc

from sluice.apply.mapping.table_view import shape_lines
from sluice.connections import find_salt, open_sealed
from sluice.model.key_choice import KeyChoice
from sluice.model.key_sample import SEED_BITS
from sluice.values.copy_text import columns_of
from sluice.vendors.protocol.compare import Comparison, key_choice, not_by_given_keys
from sluice.vendors.protocol.digests import Digested, DigestSide, Summed, Texts
from sluice.vendors.registry import master
from sluice.verify.bucket_compare import Row, compare, split_values
from sluice.verify.difference import Difference, RowReader

# Bytes of the answer for a bucket, about.
_ANSWER = 64


def compare_texts(
    job: Comparison,
    names: Sequence[str],
    key: Sequence[str],
    replica: Callable[[], Texts],
    digests: DigestSide | None = None,
) -> Difference:
    """Compare one table, streaming both sides.

    Args:
        names: its columns on the slave, in the order of the layout.
        key: those of its primary key; none if it has none.
        replica: the slave's rows; it may be called again.
        digests: the slave's table, if its server can compute digests.
    """
    reader = RowReader(tuple(names), bool(key), split_values, job.keeping)
    places = [names.index(one) for one in key]
    with master_digests(job) if digests else nullcontext() as ours:
        if ours and digests and (how := agreed(job, places, ours, digests)):
            return _compare_digests(job, places, reader, how, ours, digests)
    choice = key_choice(job) if job.keys else None
    return compare(
        lambda: _rows(_master(job), places, choice), lambda: _rows(replica(), places, choice), job.sample, reader
    )


def whole(jobs: list[Comparison], most: int) -> list[Comparison]:
    """See `sluice.vendors.registry.Vendor.cut`: no table is cut. Raises SluiceError SLC-622, SLC-640."""
    if given := [job for job in jobs if job.only]:
        why = "both sides have to be PostgreSQL"
        raise not_by_given_keys(given[0].slave, {job.view.master.name: why for job in given})
    for job in jobs:
        if job.keys:
            key_choice(job)
    return jobs


@contextmanager
def master_digests(job: Comparison) -> Iterator[DigestSide | None]:
    """The master's table, if its server can compute digests, and these rows come as they are, and all of them."""
    side, name = job.master, job.view.master.name
    open_digests = master(side.vendor).digests
    if open_digests is None or not job.checksums or job.view.is_shaped or not job.sample.whole or job.keys:
        yield None
        return
    with open_digests(
        open_sealed(job.sealed)[side.connection], side.snapshot_id, side.trusted, name, job.view.read_columns
    ) as it:
        yield it


def agreed(job: Comparison, key: Sequence[int], ours: Summed, theirs: Summed) -> Digested | None:
    """How both sides write rows; None if one of them cannot.

    Args:
        key: the places of its columns.
    """
    one, other = ours.plain, theirs.plain
    if one is None or other is None:
        return None
    plain = tuple(both == (True, True) for both in zip(one, other, strict=True))
    digits = (SEED_BITS + 3) // 4
    salt = "".join(f"{seed:0{digits}x}" for seed in job.seeds)
    return Digested(salt, tuple(key) or tuple(range(len(plain))), plain)


def _compare_digests(
    job: Comparison, key: Sequence[int], reader: RowReader, how: Digested, ours: DigestSide, theirs: DigestSide
) -> Difference:
    differ, found = differing(how, ours, theirs)
    if not differ:
        return found
    return added(
        found,
        compare(
            lambda: _rows(ours.rows(how, differ), key), lambda: _rows(theirs.rows(how, differ), key), job.sample, reader
        ),
    )


def differing(how: Digested, ours: Summed, theirs: Summed) -> tuple[set[str], Difference]:
    """The buckets whose sums differ, and what is known of the others."""
    with ThreadPoolExecutor(1) as beside:
        later = beside.submit(theirs.sums, how)
        our_sums, size = ours.sums(how)
        their_sums, _ = later.result()
    every = our_sums.keys() | their_sums.keys()
    differ = {name for name in every if our_sums.get(name) != their_sums.get(name)}
    moved = _ANSWER * (len(our_sums) + len(their_sums))
    return differ, Difference(compared=sum(our_sums[name].rows for name in every - differ), moved=moved, size=2 * size)


def added(alike: Difference, read: Difference) -> Difference:
    """What was found in rows that were read, with what is known of those that were not."""
    read.compared += alike.compared
    read.moved += alike.moved
    read.size = alike.size
    return read


def _master(job: Comparison) -> Texts:
    connections = open_sealed(job.sealed)
    view = job.view
    shape = view.shape(find_salt(connections, job.salt)) if view.is_shaped else None
    info = connections[job.master.connection]
    with master(job.master.vendor).read(info, job.master.snapshot_id, job.master.trusted) as reading:
        for buffer in reading.table(view.master.name, view.read_columns):
            lines = shape_lines(view, shape, buffer, view.written_columns)[0] if shape else buffer
            yield columns_of(lines, len(view.written_columns))


def _rows(pieces: Texts, key: Sequence[int], choice: KeyChoice | None = None) -> Iterator[Row]:
    for columns in chosen(pieces, key, choice) if choice else pieces:
        images = _tokens(columns).to_pylist()
        keys = _tokens([columns[place] for place in key]).to_pylist() if key else images
        yield from ((one, image, 1) for one, image in zip(keys, images, strict=True))


def chosen(pieces: Texts, key: Sequence[int], choice: KeyChoice) -> Texts:
    """The rows whose keys are in ranges."""
    for columns in pieces:
        keys = zip(*(columns[place].to_pylist() for place in key), strict=True)
        taken = pa.array([choice.takes(one) for one in keys], pa.bool_())
        yield [one.filter(taken) for one in columns]


def _tokens(columns: Sequence[pa.Array]) -> pa.Array:
    """For each row bytes that are equal where its values are."""
    cells = [pc.fill_null(pc.replace_substring(one.cast(pa.large_string()), "\\", "\\\\"), "\\N") for one in columns]
    escaped = [pc.replace_substring(cell, "\t", "\\t") for cell in cells]
    return pc.cast(pc.binary_join_element_wise(*escaped, pa.scalar("\t", pa.large_string())), pa.large_binary())
