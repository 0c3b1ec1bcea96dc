"""Reading ITEMS in one snapshot, as Arrow batches of whole, ordered transactions (R1, R2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from psycopg import Rollback, errors, sql

from sluice.arrow_rows import concat, take_rows
from sluice.changelog.schema import NO_LAYOUT, ROW, SWEPT, are_commands
from sluice.connections import ConnectionInfo
from sluice.errors import FencedError, SluiceError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.position import Snapshot
from sluice.vendors.postgresql.capture.queue.backlog import EVERYTHING, Backlog, begun, file, is_longer
from sluice.vendors.postgresql.capture.queue.batch import read, untranslatable, without_strangers
from sluice.vendors.postgresql.capture.queue.row_images import fields
from sluice.vendors.postgresql.capture.server_state import ServerState
from sluice.vendors.postgresql.catalog.change_stamp import CatalogStamp
from sluice.vendors.postgresql.read.copy_out import CopyOut
from sluice.vendors.postgresql.session import PURGE, Connection, composed, connect, expect_same
from sluice.vendors.postgresql.statements.transaction_fate import flush
from sluice.vendors.protocol.sweep import Purge, SourceState

BLOCK_BYTES = 4 * 1024 * 1024
# From this length on a look at a queue that is empty takes milliseconds.
_LONG_BYTES = 64 * 1024 * 1024
# What a change that belongs to no table names as its relation.
NO_TABLE = 0
PURGING = f"SET LOCAL synchronous_commit = on; {PURGE}"


class PostgresSweep:
    """One REPEATABLE READ transaction over ITEMS; see `sluice.vendors.protocol.slave.Sweep`.

    Args:
        beside: a session that was there before the snapshot, as it is still if the source did not crash since (R2).
    """

    def __init__(
        self,
        connection: Connection,
        beside: Connection,
        info: ConnectionInfo,
        parts: Mapping[str, sql.Composable],
        epoch: int,
        backlog: Backlog | None,
        unchanged: CatalogStamp,
    ) -> None:
        self._connection = connection
        self._beside = beside
        self._info = info
        self._parts = parts
        self._epoch = epoch
        self._by_relation: dict[int, list[Layout]] = {}
        self._used: dict[int, Layout] = {}
        self._slice = EVERYTHING
        self._empty = True
        self._unchanged = unchanged
        self.backlog = backlog

    def begin(self, max_changes: int | None, until: str | None) -> None:
        """Take the snapshot, read the fence in it, choose the slice. Raises FencedError if the lease is lost."""
        execute = self._connection.execute
        execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        execute(composed("capture/queue/hold", **self._parts))
        self.state, self.snapshot = begun_under(self._connection, self._parts, self._epoch)
        self._choose(max_changes, until)
        self._expect_recorded()
        self._read_layouts()
        # A vacuum finds the queue empty. For the one row that the planner then expects a loop over a loop would do.
        execute("SET LOCAL enable_nestloop = off")

    def _choose(self, max_changes: int | None, until: str | None) -> None:
        """Go on with a backlog; begin one if more is queued than the bound; else take all of it."""
        before = self.backlog
        if before and (
            max_changes is None
            or (until and before.snapshot != until)
            or before.file != file(self._connection, self._parts)
        ):
            self.backlog = None
        found = self.backlog.next() if self.backlog else None
        if found is None and max_changes is not None and is_longer(self._connection, self._parts, max_changes):
            self.backlog = begun(self._connection, self._parts, until or self.snapshot.text, max_changes)
            found = self.backlog.next()
        self._slice, self.more = found or replace(EVERYTHING, snapshot=until), found is not None
        if found and until and self.backlog:
            self.more = bool(self.backlog.beyond(found).ends)

    def _expect_recorded(self) -> None:
        if self._unchanged.look(self._connection, self._parts):
            return
        if misread := self._connection.execute(composed("capture/ddl/layout_mismatch", **self._parts)).fetchone():
            schema, table, went = misread
            raise self._unchanged.unrecorded(TableName(schema, table), went=went)
        self._unchanged.is_fine()

    def _read_layouts(self) -> None:
        for key, relation, schema, table, columns, primary, deferrable in self._connection.execute(
            composed("capture/queue/layouts", **self._parts)
        ):
            layout = Layout(
                id=key,
                name=TableName(schema, table),
                columns=tuple(Column(*column) for column in columns),
                key=tuple(primary),
                deferrable=deferrable,
            )
            self._by_relation.setdefault(relation, []).append(layout)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The changes in order, `SWEPT` columns, about `BLOCK_BYTES` of text a batch.

        Raises:
            SluiceError: SLC-068 or SLC-058: there is something that nobody can read.
        """
        query = composed("capture/queue/sweep", taken=self._slice.taken(self._parts))
        try:
            # None of them is held here while another is made: there may be hundreds of megabytes in one.
            yield from map(self._batch, map(read, CopyOut(self._connection, query, BLOCK_BYTES)))
        except (errors.CharacterNotInRepertoire, errors.UntranslatableCharacter, pa.ArrowInvalid) as error:
            raise self._untranslatable(error) from None
        except errors.ProgramLimitExceeded as error:
            raise self._too_long(error) from None
        if self._empty:
            # Somebody has deleted what was there. What is left is looked over again.
            self.backlog = None

    def layouts(self) -> Mapping[int, Layout]:
        """The layouts that the batches given so far were written under."""
        return self._used

    def make_durable(self) -> None:
        """Flush, by a commit of our own beside the sweep, all commits that its snapshot saw."""
        flush(self._beside)

    def purge(self, purge: Purge, changes: int) -> None:
        """Delete what the sweep read, record the segment, commit with a flush."""
        execute = self._connection.execute
        execute(PURGING)
        pieces = self._slice.within()
        gone = sum(execute(composed("capture/queue/purge", **self._parts, within=within)).rowcount for within in pieces)
        if gone != changes:
            raise SluiceError(
                68,
                f"segment {purge.segment} holds {changes} changes, but {gone} of them are in ITEMS; nothing was purged",
                "somebody else writes to ITEMS; stop that, then run initial_update for the slaves of this source",
            )
        record_purge(self._connection, self._parts, purge, self._epoch)
        execute("COMMIT")
        self.backlog = self.backlog.beyond(self._slice) if self.backlog and self.more else None

    def _batch(self, table: pa.Table) -> pa.RecordBatch:
        self._empty = False
        relations = table["relid"].to_numpy()
        keys = table["repl_key"].to_numpy()
        layouts = np.full(len(keys), NO_LAYOUT, dtype=np.int64)
        for relation in np.unique(relations[relations != NO_TABLE]):
            known = self._by_relation.get(int(relation), [])
            self._used.update({layout.id: layout for layout in known})
            begins = np.array([NO_LAYOUT, *(layout.id for layout in known)])
            rows = relations == relation
            layouts[rows] = begins[np.searchsorted(begins, keys[rows], side="right") - 1]
        commands = are_commands(table["action"]).to_numpy()
        lost = np.flatnonzero(commands & (layouts == NO_LAYOUT) & (relations != NO_TABLE))
        if len(lost):
            key, relation = keys[lost[0]], relations[lost[0]]
            raise SluiceError(
                68,
                f"the command with key {key} names relation {relation}, which has no recorded columns",
                self._given_up("repl_key", key),
            )
        return self._with_rows(without_strangers(table, commands, layouts), commands, layouts)

    def _with_rows(
        self, table: pa.Table, commands: np.ndarray[Any, Any], layouts: np.ndarray[Any, Any]
    ) -> pa.RecordBatch:
        parts: dict[str, list[pa.Array]] = {"new": [], "old": []}
        strange = ~commands & (layouts == NO_LAYOUT)
        order = [np.flatnonzero(commands), np.flatnonzero(strange)]
        for side, lists in parts.items():
            lists.append(_alone(take_rows(table[side].combine_chunks(), order[0])))
            lists.append(pa.nulls(len(order[1]), ROW))
        for number in np.unique(layouts[~commands & ~strange]):
            indices = np.flatnonzero((layouts == number) & ~commands)
            order.append(indices)
            layout = self._used[int(number)]
            for side, lists in parts.items():
                images = take_rows(table[side].combine_chunks(), indices)
                try:
                    lists.append(fields(images, len(layout.columns)))
                except ValueError as error:
                    raise SluiceError(
                        68,
                        f"a row image of {layout.name} does not fit its recorded columns: {error}",
                        self._given_up("relid", table["relid"][indices[0]]),
                    ) from None
        back = np.argsort(np.concatenate(order), kind="stable")
        return pa.RecordBatch.from_arrays(
            [
                *(table[name].combine_chunks() for name in ("last", "trans_key", "repl_key")),
                pa.array(layouts),
                table["action"].combine_chunks(),
                *(take_rows(concat(lists), back) for lists in parts.values()),
            ],
            schema=SWEPT,
        )

    def _untranslatable(self, error: Exception) -> SluiceError:
        with connect(self._info, "publish", autocommit=True) as beside:
            key = untranslatable(beside, self._parts)
        return SluiceError(
            58,
            f"a change in ITEMS is no text in UTF-8, that with key {key}: {str(error).strip()}",
            f"fix the value in its table, then give the change up by `{self.deletion('repl_key', key)}` on the "
            "source; the slaves lack it until initial_update. If the database is in SQL_ASCII, move it to UTF8",
        )

    def _too_long(self, error: Exception) -> SluiceError:
        with connect(self._info, "publish", autocommit=True) as beside:
            found = beside.execute(composed("capture/queue/longest", **self._parts)).fetchone()
        key, trans_key, table, megabytes = found or ("?", "?", "?", 0)
        return SluiceError(
            68,
            f"the change {key} of {table} in transaction {trans_key} cannot be read, it has {megabytes} MB of text in "
            f"ITEMS, and the server prints no row beyond 1 GB: {str(error).strip()}",
            f"make the value shorter in its table, give the change up by `{self.deletion('repl_key', key)}` on the "
            "source, and run initial_update for its slaves; until then nothing is published, and nothing is lost",
        )

    def _given_up(self, column: str, number: object) -> str:
        """A HINT for changes in ITEMS that cannot be decoded."""
        return (
            "a defect, or somebody wrote to ITEMS: keep a copy of the queue for a report, then give that up by "
            f"`{self.deletion(column, number)}` on the source, and run initial_update for the slaves of this source"
        )

    def deletion(self, column: str, number: object) -> str:
        """The statement that deletes changes from ITEMS, for an administrator."""
        deletion = sql.SQL("DELETE FROM {} WHERE ").format(self._parts["queue"]).as_string()
        return f"BEGIN; {PURGE}; {deletion}{column} = {number}; COMMIT"


def _alone(texts: pa.Array) -> pa.ListArray:
    """The bodies of commands: lists of one text each."""
    lists = pa.ListArray.from_arrays(np.arange(len(texts) + 1, dtype=np.int32), texts)
    return lists.take(pa.array(np.arange(len(texts)), mask=~texts.is_valid().to_numpy(zero_copy_only=False)))


def purged_by_name(
    session: Connection,
    parts: Mapping[str, sql.Composable],
    purge: Purge,
    epoch: int,
    changes: Iterable[Mapping[str, Sequence[object]]],
) -> bool:
    """Purge changes by `keys` and `transactions`, and record it; False, and nothing is done, if one is not there."""
    with session.transaction() as purging:
        session.execute(PURGING)
        for some in changes:
            if session.execute(composed("capture/queue/purge_keys", **parts), some).rowcount != len(some["keys"]):
                raise Rollback(purging)
        record_purge(session, parts, purge, epoch)
        return True
    return False


def begun_under(
    connection: Connection, parts: Mapping[str, sql.Composable], epoch: int
) -> tuple[SourceState, Snapshot]:
    """The source's state and the snapshot of a transaction that has begun. Raises FencedError if the lease is lost."""
    row = connection.execute(composed("capture/queue/fence", **parts)).fetchone()
    if row is None or row[3] != epoch:
        raise FencedError(
            50,
            f"another publisher took over (epoch {row and row[3]}, ours {epoch})",
            "nothing is lost; this run ends and the other goes on",
        )
    text, mark = connection.execute(composed("capture/queue/snapshot")).fetchone() or ("", None)
    expect_same(connection, mark)
    return ServerState(*row[:3]), Snapshot(text)


def record_purge(connection: Connection, parts: Mapping[str, sql.Composable], purge: Purge, epoch: int) -> None:
    """Write into the purging transaction which segment it purges. Raises FencedError if the lease is lost."""
    recorded = connection.execute(
        composed("capture/queue/record_purge", **parts),
        {"segment": purge.segment, "sha256": purge.sha256, "epoch": epoch},
    )
    if recorded.rowcount != 1:
        raise FencedError(50, f"another publisher took over while epoch {epoch} purged")


def reclaim(connection: Connection, parts: Mapping[str, sql.Composable]) -> None:
    """Let the queue use the room of purged changes again; give it back if there is much of it."""
    (long,) = connection.execute(composed("capture/queue/is_long", **parts), {"bytes": _LONG_BYTES}).fetchone() or (
        False,
    )
    connection.execute(composed("capture/queue/reclaim", **parts, shrinks=sql.SQL("on" if long else "off")))
