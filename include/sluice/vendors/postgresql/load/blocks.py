"""A slave that is loaded block by block: its ranges, and a block that is put in at a point of the stream (R10)."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress

import psycopg
from psycopg import sql

from sluice.apply.mapping.table_view import TableView, view
from sluice.changelog.points import PointWait
from sluice.config.mapper import Mapper
from sluice.connections import ConnectionInfo
from sluice.crash import CrashPoint, crash_if_asked
from sluice.errors import FencedError
from sluice.model.action import FilledRows
from sluice.model.names import Pair, Resources, TableName
from sluice.model.position import Position
from sluice.vendors.postgresql import fence, migrations
from sluice.vendors.postgresql.capture.loop_filter import LoopFilter
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.definition import PostgresTable, identifier, listed
from sluice.vendors.postgresql.catalog.neutral import as_ours
from sluice.vendors.postgresql.catalog.row_identity import is_unfinished
from sluice.vendors.postgresql.ddl.compatibility import fitting
from sluice.vendors.postgresql.ddl.names import names_of
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.load import deferred_indexes
from sluice.vendors.postgresql.load.foreign_keys import WaitingForeignKeys
from sluice.vendors.postgresql.load.receiver import loader, merge
from sluice.vendors.postgresql.read.key_range import between
from sluice.vendors.postgresql.session import Connection, composed, keep, limit_lock_waits, restore
from sluice.vendors.postgresql.write import side_effects
from sluice.vendors.postgresql.write.staging import missing
from sluice.vendors.protocol.load import Sorted, TableDefinition
from sluice.vendors.protocol.read import Key, KeyRange
from sluice.vendors.protocol.tasks import BlockJob

_LOOK_S = 0.02
# How long a block, and with it a slave that stands at the point, waits for a session that has locked its table. Less
# than the second after which servers look for deadlocks: no statement of a user is ended for a block.
_LOCK_WAIT = "400ms"
# How long foreign keys wait for the batch that a drain is at.
_PATIENCE = "60s"


class PostgresRanges:
    """See `sluice.vendors.protocol.load.SlaveRanges`."""

    def __init__(
        self, info: ConnectionInfo, pair: Pair, schema: str, mapper: Mapper, masters: Collection[Resources] = ()
    ) -> None:
        self._info = info
        self._pair = pair
        self._mapper = mapper
        self._masters = masters
        self._schema = schema
        self._parts = migrations.parts_of_slave(schema)
        self._session: Connection | None = None

    def unfit(
        self, tables: Sequence[TableDefinition], chosen: Collection[TableName], replaced: Sorted, *, build: bool
    ) -> dict[TableName, str]:
        """See `sluice.vendors.protocol.load.SlaveRanges`."""
        with translated("looking at the slave's tables"):
            with self._open().transaction():
                # What another load has put off that did not end: it may be what tells rows apart.
                indexes = self._parts["indexes"]
                if put_off := deferred_indexes.lacking(self._open(), indexes) & set(map(self._mapper.table, chosen)):
                    if build:
                        deferred_indexes.build(self._open(), indexes, put_off)
                    else:
                        chosen = [name for name in chosen if self._mapper.table(name) not in put_off]
                        replaced = {name: how for name, how in replaced.items() if name in chosen}
            found = {table.name: self._unfit(table) for table in as_ours(tables) if table.name in chosen}
            of = {table.name: view(self._mapper, table.layout) for table in tables}
            found |= {name: found[name] or self._kept_whole(of[name], sorting) for name, sorting in replaced.items()}
        return {name: why for name, why in found.items() if why}

    def expect(self, epoch: int, update: int, ranges: Sequence[KeyRange]) -> None:
        """Write down what an update is to load, in place of all that was to be loaded. Until it is in, rows come before
        others that they refer to.
        """
        with translated("planning the blocks"), self._open().transaction():
            fence.lock_fence(self._open(), self._parts["position"], self._pair, epoch)
            if not side_effects.is_silent(self._open()):
                loop_filter = LoopFilter(self._open(), self._masters)
                tables = {self._mapper.table(one.table) for one in ranges}
                loop_filter.record(sorted(WaitingForeignKeys(self._open(), self._parts).put_off(tables)))
                loop_filter.remove()
            self._open().execute(composed("load/blocks/forget", ranges=self._parts["ranges"]), self._names())
            for one in ranges:
                values = {**self._names(), "update": update, "number": one.number, "order": one.order}
                values |= {"schema": one.table.schema, "table": one.table.table}
                values |= {"reached": _array(one.reached), "until": _array(one.until), "seen": one.seen}
                values |= {"first": _array(one.first), "replaces": one.replaces}
                self._open().execute(composed("load/blocks/expect", ranges=self._parts["ranges"]), values)

    def found(self, update: int) -> list[KeyRange]:
        """The key ranges to load and their progress, which is durable when this returns (R3)."""
        with translated("looking at the blocks"):
            with self._open().transaction():
                ours = {**self._names(), "update": update}
                rows = (
                    self._open().execute(composed("load/blocks/found", ranges=self._parts["ranges"]), ours).fetchall()
                )
                self._open().execute(composed("session/make_durable"))
            return [
                KeyRange(
                    number,
                    TableName(schema, table),
                    order,
                    _key(reached_),
                    _key(until),
                    loaded,
                    ended,
                    seen,
                    _key(first),
                    replaces,
                )
                for number, schema, table, order, reached_, until, loaded, ended, seen, first, replaces in rows
            ]

    def left(self) -> tuple[int, list[KeyRange], Position]:
        """The last update's number, its key ranges with their progress, and the slave's position."""
        with translated("looking at the blocks"):
            row = (
                self._open()
                .execute(composed("load/blocks/left", ranges=self._parts["ranges"]), self._names())
                .fetchone()
            )
            position = composed("position/position", position=self._parts["position"])
            found = self._open().execute(position, self._names()).fetchone()
        last = Position(found[0], found[1]) if found else Position(0, 0)
        return (int(row[0]), self.found(int(row[0])), last) if row else (0, [], last)

    def adopt(self, epoch: int, update: int) -> None:
        """Let another update load what is left."""
        with translated("planning the blocks"), self._open().transaction():
            fence.lock_fence(self._open(), self._parts["position"], self._pair, epoch)
            adopted = {**self._names(), "update": update}
            self._open().execute(composed("load/blocks/adopt", ranges=self._parts["ranges"]), adopted)

    def finish(self, update: int, lacking: Collection[TableName]) -> None:
        """Make the foreign keys that waited, if it is still this update's to do.

        Raises:
            SluiceError: SLC-271, rows do not meet one.
            TransientError: SLC-036, another session has locked a table.
        """
        ours = {**self._names(), "update": update}
        tables = {self._mapper.table(one.table) for one in self.found(update)}
        without = [self._mapper.table(name) for name in lacking]
        with translated("making foreign keys"), self._open().transaction():
            limit_lock_waits(self._open(), _PATIENCE)
            if self._open().execute(composed("read/hold", **self._parts), ours).fetchone() is None:
                return
            loop_filter = LoopFilter(self._open(), self._masters)
            loop_filter.record(sorted(WaitingForeignKeys(self._open(), self._parts).make(tables, without)))
            loop_filter.remove()

    def close(self) -> None:
        """End the session."""
        if self._session is not None:
            self._session.close()

    def _unfit(self, table: PostgresTable) -> str:
        seen = view(self._mapper, table.layout).layout
        if not seen.key:
            return "the slave does not get all columns of its primary key"
        if seen.searched or self._mapper.write_policy(table.name).strict:
            return "`searchable`, `on_missing` and `on_duplicate` expect rows that are not in yet"
        if not relations.columns(self._open(), seen.name) or is_unfinished(self._open(), seen.name):
            return ""
        if not relations.enforced(self._open(), seen.name, seen.key_names):
            return "no index of the slave's table tells rows apart by that key at once"
        for one in relations.side_effects(self._open(), seen.name):
            if one.kind == "rule" or (one.kind == "key" and one.fires):
                return f"{one.name} on the slave's table would meet rows that come before others"
        return ""

    def _kept_whole(self, seen: TableView, sorting: Sequence[str | None]) -> str:
        """Why rows between two keys of the master's cannot be replaced by his."""
        layout, ours = seen.layout, seen.master
        columns = relations.target_columns(self._open(), layout.name)
        if not columns:
            return "the slave has no such table"
        names = [self._mapper.column(ours.name, name) for name in ours.key_names]
        here = relations.sorting(self._open(), layout.name, [name for name in names if name])
        if None in names or None in here or here != list(sorting):
            return "its keys are not known to be sorted on the slave as on the master"
        if any(one.numbered for name, one in columns.items() if name not in names):
            return "it has another column that is always numbered"
        return ""

    def _names(self) -> dict[str, object]:
        return {"source": self._pair.source, "slave": self._pair.slave}

    def _open(self) -> Connection:
        if self._session is None or self._session.closed:
            self._session = loader(self._info, self._pair, self._schema, in_blocks=True)
            # Others than those that load blocks count on what is written here.
            keep(self._session, synchronous_commit="on")
        return self._session


class PostgresBlocks:
    """See `sluice.vendors.protocol.load.BlockReceiver`.

    Rows come into a table of the session, so that the slave is held at the point for no longer than it takes to insert
    them; and while it is on its way there, nothing is locked here.
    """

    def __init__(self, info: ConnectionInfo, job: BlockJob) -> None:
        self._job = job
        self._parts = {name: sql.Identifier(job.slave.schema, f"sluice_{name}") for name in ("position", "ranges")}
        self._names = {"source": job.source, "slave": job.slave.slave}
        pair = Pair(job.source, job.slave.slave)
        self._waiting = PointWait(pair, job.at, job.patience_s, nearing=True)
        self._copying = ExitStack()
        self._merge: sql.Composed | None = None
        self._replaces = False
        with translated(f"loading {job.slave.slave}"):
            self._session = loader(info, pair, job.slave.schema, in_blocks=True)
            keep(self._session, lock_timeout=_LOCK_WAIT)

    def begin(self, within: KeyRange, seen: TableView | None) -> None:
        """Begin to write rows."""
        self._within = within
        if seen is None:
            return
        layout = seen.layout
        parts: dict[str, sql.Composable] = {
            "table": identifier(layout.name),
            "columns": listed(seen.written_columns),
        }
        # Rows of the slave's own are not the master's of any time.
        own = self._job.mapper.existing_rows(seen.master.name) is FilledRows.MERGE
        self._seen, self._replaces = seen, within.replaces and not own
        self._merge = merge(seen, upserted=own or within.replaces)
        with translated(f"loading {self._job.slave.slave}"):
            self._copying.close()
            if not fitting(self._session, layout, names_of(self._session, self._job.mapper)):
                raise missing(f"the slave has no table {layout.name}")
            self._silent = side_effects.is_silent(self._session)
            side_effects.expect_none(self._session, [layout.name], silent=self._silent)
            self._session.execute("DROP TABLE IF EXISTS pg_temp.sluice_merged")
            self._session.execute(composed("load/stage", **parts, kept=sql.SQL("PRESERVE ROWS")))
            parts["table"] = sql.Identifier("pg_temp", "sluice_merged")
            into = composed("load/copy_in", **parts, format=sql.SQL("text"))
            self._copy = self._copying.enter_context(self._session.cursor().copy(into))

    def write(self, buffer: bytes) -> None:
        """Write some rows."""
        with translated(f"loading {self._job.slave.slave}"):
            self._copy.write(buffer)

    def await_point(self) -> None:
        """Wait for the slave."""
        with translated(f"loading {self._job.slave.slave}"):
            while not self._arrived("position/position"):
                time.sleep(_LOOK_S)

    def end(self, reached_: Key | None) -> int:
        """Wait for the point, put in what the slave lacks of the block, and that it is in."""
        with translated(f"loading {self._job.slave.slave}"):
            self._copying.close()
            self.await_point()
            with self._session.transaction():
                restore(self._session)
                # What had been seen without a lock may not be so any more.
                while not self._arrived("load/blocks/at"):
                    time.sleep(_LOOK_S)
                if self._merge:
                    adopted = self._job.mapper.adopted
                    side_effects.hold(self._session, self._seen.layout.name, adopted, silent=self._silent)
                loop_filter = LoopFilter(self._session, self._job.slave.masters)
                rows = 0
                for statement in filter(None, [self._gone(reached_) if self._replaces else None, self._merge]):
                    rows += self._session.execute(statement).rowcount
                    restore(self._session)
                loop_filter.remove()
                within = self._within
                values = {**self._names, "update": self._job.update, "number": within.number, "rows": rows}
                values |= {"reached": _array(within.reached), "now": _array(reached_)}
                if self._session.execute(composed("load/blocks/reach", **self._parts), values).rowcount != 1:
                    raise FencedError(50, f"range {within.number} of {within.table} is no longer what it was")
                crash_if_asked(CrashPoint.MERGED)
        crash_if_asked(CrashPoint.CHUNK_LOADED)
        if self._merge and reached_ is None:
            # The block is committed; if its table is locked, hint bits are left to the server.
            with suppress(psycopg.Error):
                self._session.execute(sql.SQL("ANALYZE {}").format(identifier(self._seen.layout.name)))
        return rows

    def close(self) -> None:
        """End, without what was not committed."""
        self._session.close()

    def _gone(self, reached_: Key | None) -> sql.Composed:
        """Rows that the slave has of the block, and the master has not."""
        layout = self._seen.layout
        return composed(
            "load/blocks/gone",
            rows=relations.rows_of(self._session, layout.name),
            within=between(layout.key_names, self._within, reached_),
            key=listed(layout.key_names),
            its=sql.SQL(", ").join(sql.Identifier("there", name) for name in layout.key_names),
            among=sql.SQL("NOT IN"),
        )

    def _arrived(self, look: str) -> bool:
        row = self._session.execute(composed(look, **self._parts), self._names).fetchone()
        return self._waiting.has_arrived(int(row[1]) if row else 0)


def _array(key: Key | None) -> list[str] | None:
    return None if key is None else list(key)


def _key(values: list[str] | None) -> Key | None:
    return None if values is None else tuple(values)
