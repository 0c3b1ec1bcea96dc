"""Each transaction of the master as one of the slave's, sent one behind the other without waiting (R3, R4).

Each moves the position on from exactly where the one before left it. So if one fails, all that were sent after it fail
as well, and none is passed over. What cannot be replayed stops the replay in front of it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from psycopg import sql

from sluice.apply.row_changes import TransactionGroup, groups
from sluice.crash import CrashPoint, reached
from sluice.errors import SluiceError, TransientError
from sluice.model.layout import Layout
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import Connection, composed, kept, mark_of
from sluice.vendors.postgresql.write.pipeline import Pipeline, Sent
from sluice.vendors.postgresql.write.row_by_row import PreparedStatements, prepare
from sluice.vendors.postgresql.write.writer import TableWriter
from sluice.vendors.protocol.slave import MOST_REPLAYED, Replayed

# The gate wants to be looked at, and the lease renewed.
_PATIENCE_S = 1.0
_ADVANCE, _GUARD = b"sluice_advance", b"sluice_guard"


@dataclass(frozen=True)
class _Opened:
    """A table that can be replayed, and what the guard is to find of it."""

    prepared: PreparedStatements
    table: int
    stamp: int


class OneToOne:
    """Replays transactions one by one in a session of a drain."""

    def __init__(self, connection: Connection, writer: TableWriter, position: sql.Composable) -> None:
        self._connection = connection
        self._writer = writer
        prepare(connection, _ADVANCE, composed("write/replay_advance", position=position))
        prepare(connection, _GUARD, composed("write/replay_guard"))

    def replay(
        self,
        who: tuple[Pair, int],
        changes: pa.Table,
        layouts: Mapping[int, Layout],
        begin: Position,
        end: Position,
        collected: int,
    ) -> Replayed:
        """Replay what can be, for about a second; see `sluice.vendors.protocol.slave`.

        Args:
            who: the replication, and the epoch under which its position may be moved.

        Raises:
            psycopg.errors.DivisionByZero: the position is not where it should be, or epoch or session are not ours.
        """
        tables = self._opened(changes, layouts)
        passed, mark = [begin], mark_of(self._connection).encode()
        until = time.monotonic() + _PATIENCE_S
        generic = kept(self._connection, plan_cache_mode="force_generic_plan", enable_seqscan="off")
        with generic, Pipeline(self._connection) as pipeline:
            for group in groups(changes, collected):
                if pipeline.failed or not _can_be(group, tables) or time.monotonic() > until:
                    break
                to = Position(end.segment, group.last)
                pipeline.send(_advance(who, mark, passed[-1], to))
                for change in group.changes:
                    for statement in tables[change.layout].prepared.statements(change):
                        pipeline.send(statement)
                pipeline.send(_guard([tables[number] for number in group.layouts]))
                pipeline.sync()
                passed.append(to)
                reached(CrashPoint.REPLAYED)
            else:
                if passed[-1] != end:
                    # What is left changes no row.
                    pipeline.send(_advance(who, mark, passed[-1], end))
                    pipeline.sync()
                    passed.append(end)
        if pipeline.failed and pipeline.failed[1] == 0:
            pipeline.expect_done()
        return Replayed(passed[pipeline.synced], pipeline.tolerated)

    def _opened(self, changes: pa.Table, layouts: Mapping[int, Layout]) -> dict[int, _Opened]:
        """The tables that can be replayed, by ids of layouts. Errors of others are raised when their changes come."""
        found = {}
        for number in sorted(set(pc.unique(changes["layout"]).to_pylist()) & layouts.keys()):
            name = layouts[number].name
            with translated(f"writing to {name}"):
                try:
                    with self._writer.stages.transaction():
                        self._writer.stages.lock([name])
                        target = self._writer.stages.target(layouts[number])
                        if target.by_row:
                            values = {"schema": name.schema, "table": name.table}
                            rows = self._connection.execute(composed("position/stamp"), values).fetchall()
                            found[number] = _Opened(self._writer.prepared(target), *rows[0])
                except TransientError:
                    raise
                except SluiceError:
                    continue
        return found


def _can_be(group: TransactionGroup, tables: Collection[int]) -> bool:
    return not group.commands and group.size <= MOST_REPLAYED and group.layouts <= set(tables)


def _advance(who: tuple[Pair, int], mark: bytes, begin: Position, end: Position) -> Sent:
    pair, epoch = who
    numbers = [b"%d" % number for number in (end.segment, end.ordinal)]
    ours = [pair.source.encode(), pair.slave.encode(), b"%d" % epoch, b"%d" % begin.ordinal, mark]
    return Sent(_ADVANCE, [*numbers, *ours])


def _guard(tables: Collection[_Opened]) -> Sent:
    stamps = {one.table: one.stamp for one in tables}
    return Sent(_GUARD, [b"{%s}" % b",".join(b"%d" % table for table in stamps), b"%d" % sum(stamps.values())])
