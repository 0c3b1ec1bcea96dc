"""Each transaction of the master as one of the slave's, sent one behind the other without waiting (R3, R4).

Each moves the position on from exactly where the one before left it. So if one fails, all that were sent after it fail
as well, and none is passed over. What cannot be replayed stops the replay in front of it. Each locks its tables, and
sees that they are what they were when they were looked at, before anything is written to them.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from psycopg import sql

from sluice.apply.row_changes import TransactionGroup, groups
from sluice.crash import CrashPoint, crash_if_asked
from sluice.errors import SluiceError, TransientError
from sluice.model.layout import Layout
from sluice.model.names import Pair, TableName
from sluice.model.position import Position
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import Connection, composed, kept, mark_of
from sluice.vendors.postgresql.write import side_effects
from sluice.vendors.postgresql.write.pipeline import Pipeline, Sent
from sluice.vendors.postgresql.write.row_by_row import PreparedStatements, prepare
from sluice.vendors.postgresql.write.writer import TableWriter
from sluice.vendors.protocol.slave import MOST_REPLAYED, Replayed

# The gate wants to be looked at, and the lease renewed.
_PATIENCE_S = 1.0


@dataclass(frozen=True)
class _Opened:
    """A table that can be replayed, and what the guard is to find of it."""

    prepared: PreparedStatements
    tables: tuple[int, ...]
    stamp: int


class OneToOne:
    """Replays transactions one by one in a session of a drain."""

    def __init__(self, connection: Connection, writer: TableWriter, position: sql.Composable) -> None:
        self._connection = connection
        self._writer = writer
        self._refused: Position | None = None
        self._advance = prepare(connection, b"sluice_advance", composed("write/replay_advance", position=position))
        guard = composed("write/replay_guard", stamps=composed("write/stamps", tables=sql.SQL("$1::oid[]")))
        self._guard = prepare(connection, b"sluice_guard", guard)

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
        if begin == self._refused:
            return Replayed(begin)
        tables = self._opened(changes, layouts)
        held: dict[frozenset[int], tuple[bytes, Sent]] = {}
        passed, mark = [begin], mark_of(self._connection).encode()
        until = time.monotonic() + _PATIENCE_S
        # A row that takes too long is tried again in a batch. The batch names the table.
        limit = self._writer.limits.limit.as_text(1)
        plans = {"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off"}
        generic = kept(self._connection, **plans, statement_timeout=limit)
        with generic, Pipeline(self._connection, coded=self._writer.stages.coded) as pipeline:
            for group in groups(changes, collected):
                if pipeline.failed or not _can_be(group, tables) or time.monotonic() > until:
                    break
                to = Position(end.segment, group.last)
                pipeline.begin()
                pipeline.send(self._moving(who, mark, passed[-1], to))
                if (used := frozenset(group.layouts)) not in held:
                    held[used] = self._holding([tables[number] for number in used])
                lock, guard = held[used]
                pipeline.say(lock)
                pipeline.send(guard)
                for change in group.changes:
                    for statement in tables[change.layout].prepared.statements(change):
                        pipeline.send(statement)
                pipeline.commit()
                passed.append(to)
                crash_if_asked(CrashPoint.REPLAYED)
            else:
                if passed[-1] != end:
                    # What is left changes no row.
                    pipeline.begin()
                    pipeline.send(self._moving(who, mark, passed[-1], end))
                    pipeline.commit()
                    passed.append(end)
        if pipeline.failed and pipeline.failed[1] is self._advance:
            pipeline.expect_done()
        # It would take as long again.
        self._refused = passed[pipeline.synced] if pipeline.failed else None
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
                            tables, stamp = self._stamped(name)
                            found[number] = _Opened(self._writer.prepared(target), tables, stamp)
                except TransientError:
                    raise
                except SluiceError:
                    continue
        return found

    def _stamped(self, name: TableName) -> tuple[tuple[int, ...], int]:
        """A table with its partitions, and what the guard is to find of them."""
        names = {"schema": name.schema, "table": name.table}
        ((tables,),) = self._connection.execute(composed("write/partitions"), names).fetchall()
        stamps = composed("write/stamps", tables=sql.SQL("{}::oid[]").format(sql.Literal(tables)))
        ((stamp,),) = self._connection.execute(composed("write/stamp", stamps=stamps)).fetchall()
        return tuple(tables), stamp

    def _moving(self, who: tuple[Pair, int], mark: bytes, begin: Position, end: Position) -> Sent:
        pair, epoch = who
        numbers = [b"%d" % number for number in (end.segment, end.ordinal)]
        ours = [pair.source.encode(), pair.slave.encode(), b"%d" % epoch, b"%d" % begin.ordinal, mark]
        return Sent(self._advance, [*numbers, *ours])

    def _holding(self, opened: Collection[_Opened]) -> tuple[bytes, Sent]:
        """What locks some tables, and then sees that they are what they were."""
        stamps = {one.tables: one.stamp for one in opened}
        numbers = b",".join(b"%d" % table for tables in stamps for table in tables)
        guard = Sent(self._guard, [b"{%s}" % numbers, b"%d" % sum(stamps.values())])
        return side_effects.lock({one.prepared.target.name for one in opened}).as_bytes(self._connection), guard


def _can_be(group: TransactionGroup, tables: Collection[int]) -> bool:
    return not group.commands and group.size <= MOST_REPLAYED and group.layouts <= set(tables)
