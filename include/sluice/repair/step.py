"""A step of a repair: the master's rows of some keys come into the slave, at a point that the job's process holds.

A step that is begun again does no harm: at the same point it writes the same rows of the same snapshot, and they are
counted once (`store.repair_counts`). A step whose job is gone finds the point over, and changes nothing (R6).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from sluice.apply.mapping.table_view import TableView, shape_lines, view
from sluice.changelog.points import Point, PointWait
from sluice.config.mapper import Mapper
from sluice.connections import find_salt
from sluice.context import Context
from sluice.drain.third_databases import HeldTogether
from sluice.model.names import Pair
from sluice.repair.plan import expect_given, expect_keyed, expect_spelled_alike, expect_unchanged, outdated_error
from sluice.spark.errors import failure
from sluice.steps import Result
from sluice.store import comparisons, repair_counts
from sluice.store.comparisons import TableReport
from sluice.store.replications import ReplicationState
from sluice.vendors.protocol.load import Reading
from sluice.vendors.protocol.read import Key
from sluice.vendors.protocol.repair import RowRepair, RowsRepaired
from sluice.vendors.registry import master, vendor


@dataclass(frozen=True)
class Round:
    """Rows of one table that are repaired at one point.

    Attributes:
        mapper: as the job's process has it, which alone reads stylesheets.
        began: the replication when the repair began.
        held: what is held beside the point.
        batches: keys, by numbers that no other batch of the table has; each is a transaction of its own.
    """

    pair: Pair
    mapper: Mapper
    report: TableReport
    began: ReplicationState
    point: Point
    held: HeldTogether
    batches: Mapping[int, Sequence[Key]]
    patience_s: float


def repair_rows(context: Context, wanted: Round) -> Result:
    """Repair the rows.

    Returns:
        `done`: of each batch that was committed its number, and how many rows were deleted and written; `failure`: why
        the others were not, as a text, or None: an error that is raised would take what is done along.
    """
    done: list[tuple[int, int, int]] = []
    why = None
    try:
        for number, rows in _repair_batches(context, wanted):
            done.append((number, rows.deleted, rows.written))
    except Exception as error:
        why = failure(error)
    return {"done": done, "failure": why}


def _repair_batches(context: Context, wanted: Round) -> Iterator[tuple[int, RowsRepaired]]:
    pair, mapper, point = wanted.pair, wanted.mapper, wanted.point
    slave, source = context.config.slave(pair.slave), context.config.source(pair.source)
    seen = _slave_view(context, wanted)
    key = expect_keyed(pair, seen, mapper)
    opened = vendor(slave.vendor).repair
    assert opened is not None
    salt = find_salt(context.connections, slave.salt)

    def expect_allowed() -> None:
        expect_unchanged(context, pair, wanted.began)
        expect_given(context, pair, wanted.report.table)
        wanted.held.expect(context)

    info = context.connection(slave.connection)
    origin = context.connection(source.connection)
    with (
        master(source.vendor).read(origin, point.snapshot_id, tuple(source.trusted_code)) as reading,
        closing(opened(info, pair, slave.schema_, mapper, context.unheard(pair))) as rows,
    ):
        for number, keys in wanted.batches.items():
            types = rows.begin(seen)
            if reading.keyed_by_text:
                expect_spelled_alike(pair, seen, types)
            _copy(reading, rows, seen, key, keys, salt)
            at = PointWait(pair, point.position, wanted.patience_s, nearing=True)
            yield number, rows.end(keys, at, expect_allowed, partial(_note, context, point, number))


def _note(context: Context, point: Point, number: int, rows: RowsRepaired) -> RowsRepaired:
    return RowsRepaired(*repair_counts.note(context.store, point.id, number, (rows.deleted, rows.written)))


def _copy(
    reading: Reading, rows: RowRepair, seen: TableView, key: Sequence[str], keys: Sequence[Key], salt: bytes
) -> None:
    shape = seen.shape(salt) if seen.is_shaped else None
    for buffer in reading.keyed(seen.master.name, seen.read_columns, key, keys):
        rows.write(shape_lines(seen, shape, buffer, seen.written_columns)[0] if shape else buffer)


def _slave_view(context: Context, wanted: Round) -> TableView:
    """The slave's view of the table, as the point shows it. Raises SluiceError SLC-466 if that is not the report's."""
    report, database = wanted.report, context.source(wanted.pair.source)
    try:
        layout = database.master.shape(wanted.point.snapshot_id, report.table)
    finally:
        database.close()
    if layout is None:
        raise outdated_error(wanted.pair, report.report, report.table, "it is not there any more")
    seen = view(wanted.mapper, layout)
    if comparisons.shape_of(seen.layout) != report.layout:
        raise outdated_error(wanted.pair, report.report, report.table, "it was altered")
    return seen
