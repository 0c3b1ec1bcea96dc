"""Cutting the tables of a comparison into ranges of keys, which tasks share out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from psycopg import sql

from sluice.connections import open_sealed
from sluice.model.key_sample import KeySample
from sluice.vendors.postgresql import planned_code
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.definition import regclass
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.read.checksums import ChecksumSide, ranged_column
from sluice.vendors.postgresql.read.compare import keep_shape, overtaken, reading
from sluice.vendors.postgresql.read.given_keys import tells_alike
from sluice.vendors.postgresql.read.key_range import keys
from sluice.vendors.postgresql.read.typed_ranges import typed
from sluice.vendors.postgresql.session import Connection, composed, read_tables_alone
from sluice.vendors.protocol.compare import Comparison, KeyColumnRange
from sluice.vendors.text_compare import whole

# A table of fewer blocks is compared by one task.
_BLOCKS = 2_000
_BLOCKS_SAMPLED = 1_000
# The most parts of a table whose checksums are computed.
_PARTS = 2_048


def cut(jobs: list[Comparison], most: int) -> list[Comparison]:
    """Cut comparisons of large tables of one slave into several of ranges, in the order of their keys.

    Args:
        most: into so many ranges at most.
    """
    if not jobs:
        return []
    origin, replica = jobs[0].master, jobs[0].replica
    if origin.vendor != replica.vendor:
        # Checksums of another kind of database are others, and so may be the order of keys.
        return whole(jobs, most)
    connections = open_sealed(jobs[0].sealed)
    with (
        translated("cutting tables"),
        reading(connections[origin.connection], origin.snapshot_id) as ours,
        reading(connections[replica.connection], replica.snapshot_id, origin.snapshot_id) as theirs,
    ):
        read_tables_alone(ours)

        def cut_one(job: Comparison) -> Iterator[Comparison]:
            if job.only:
                if tells_alike(job, ours, theirs):
                    yield job
                    return
                job = replace(job, only=None, why_whole="values of its key may be equal on one side alone")
            if job.keys:
                planned_code.expect_none_now(connections[origin.connection], [job.view.master.name], origin.trusted)
                keep_shape(ours, job.view.master.name)
                job = typed(job, ours, theirs)
            blocks = _blocks(ours, job)
            large = blocks >= _BLOCKS and job.checksums
            if not job.view.layout.key or job.view.is_shaped or not (large or job.least):
                yield job
                return
            planned_code.expect_none_now(connections[origin.connection], [job.view.master.name], origin.trusted)
            keep_shape(ours, job.view.master.name)
            if job.least:
                job = replace(job, sample=KeySample.of_at_least(job.least, _count(ours, job)))
            sides = ((ours, job.view.ours), (theirs, job.view.layout))
            column = large and ranged_column(
                job, *(ChecksumSide(session, layout, job.sample, job.seeds, job.keys) for session, layout in sides)
            )
            if column is None or not large:
                yield job
                return
            sorting = ChecksumSide(ours, job.view.ours, job.sample, job.seeds).sorting(column)
            cuts = _cuts(ours, job, column, blocks)
            count = min(most, blocks // _BLOCKS + 1)
            ends = [cuts[len(cuts) * n // count] for n in range(1, count)] if len(cuts) >= count else []
            for low, high in zip([None, *ends], [*ends, None], strict=True):
                first = 0 if low is None else cuts.index(low) + 1
                until = len(cuts) if high is None else cuts.index(high)
                yield replace(job, within=KeyColumnRange(column, low, high, tuple(cuts[first:until]), sorting))

        found: list[Comparison] = []
        for job in jobs:
            with overtaken((ours, job.view.ours), (theirs, job.view.layout)):
                found += cut_one(job)
        return found


def _blocks(session: Connection, job: Comparison) -> int:
    found = session.execute(composed("read/compare/pages"), {"relation": regclass(job.view.master.name)}).fetchone()
    return int(found[0] or 0) if found else 0


def _count(session: Connection, job: Comparison) -> int:
    counted = composed("read/compare/count", rows=relations.rows_of(session, job.view.master.name))
    return int(session.execute(counted).fetchall()[0][0])


def _cuts(session: Connection, job: Comparison, column: int, blocks: int) -> list[str]:
    asked = composed(
        "read/compare/sampled",
        column=sql.Identifier(job.view.ours.columns[column].name),
        rows=relations.rows_of(session, job.view.master.name),
        percent=sql.Literal(min(100.0, 100 * _BLOCKS_SAMPLED / blocks)),
        parts=sql.Literal(_PARTS),
    )
    return [value for (value,) in keys(session.execute(asked))]
