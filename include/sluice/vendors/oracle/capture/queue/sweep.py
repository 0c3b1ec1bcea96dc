"""Reading ITEMS as of one change number, and purging exactly what was read (R1, R2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import oracledb
import pyarrow as pa

from sluice.errors import FencedError, SluiceError
from sluice.model.layout import Layout
from sluice.model.position import Snapshot
from sluice.vendors.oracle.capture import registry
from sluice.vendors.oracle.capture.queue.added_columns import AddedColumns
from sluice.vendors.oracle.capture.queue.changes import Changes, Item, deletion
from sluice.vendors.oracle.capture.queue.longs import LongReader
from sluice.vendors.oracle.names import composed
from sluice.vendors.oracle.session import changed, changed_by_all, execute, transaction
from sluice.vendors.oracle.visibility import id_of, read_snapshot, text_of
from sluice.vendors.protocol.sweep import Purge, SourceState

_FETCHED = 2_000
_PURGED = 10_000
# No key is as large.
_EVERYTHING = 10**18
_Key = tuple[int, str]


def newest_scn(session: oracledb.Connection) -> int:
    """The change number up to which every commit can be seen."""
    ((text,),) = execute(session, composed("capture/queue/scn"))
    return int(text)


def snapshot_as_of(session: oracledb.Connection, parts: Mapping[str, str], scn: int) -> Snapshot:
    """The snapshot of a change number: with the transactions that were queued then (R5)."""
    rows = execute(session, composed("capture/queue/queued_as_of", **parts), {"scn": scn})
    return Snapshot(text_of(scn, {str(id_) for (id_,) in rows}))


class OracleSweep:
    """See `sluice.vendors.protocol.sweep.Sweep`. Nothing is locked, and no transaction is open, while it is read.

    Args:
        polled: the notes of definitions that were compared with the catalog.
    """

    snapshot: Snapshot
    state: SourceState

    def __init__(
        self, session: oracledb.Connection, parts: Mapping[str, str], epoch: int, polled: Collection[int]
    ) -> None:
        self._session = session
        self._parts = parts
        self._epoch = epoch
        self._polled = polled
        self._keys: list[_Key] = []
        self._notes = 0
        self._purged = False
        self.more = False

    def begin(self, max_changes: int | None, until: str | None) -> None:
        """Look at the fence, take the change number, choose the slice. Raises FencedError SLC-050."""
        found = registry.state(self._session, self._parts)
        if found is None or found.epoch != self._epoch:
            raise FencedError(
                50,
                f"another publisher took over (epoch {found and found.epoch}, ours {self._epoch})",
                "nothing is lost; this run ends and the other goes on",
            )
        self.state = found.source
        scn = newest_scn(self._session)
        self.snapshot = snapshot_as_of(self._session, self._parts, scn)
        shown = read_snapshot(Snapshot(until)).scn if until else scn
        self._values = {"scn": scn, "shown": shown, "last_key": _EVERYTHING}
        if max_changes is not None:
            values = {"scn": scn, "shown": shown, "most": max_changes}
            ((last,),) = execute(self._session, composed("capture/queue/slice", **self._parts), values)
            if last is not None:
                self._values["last_key"] = int(last)
                ((beyond,),) = execute(self._session, composed("capture/queue/beyond", **self._parts), self._values)
                self.more = beyond > 0
        known = registry.layouts(self._session, self._parts)
        longs = LongReader(self._session, shown, self._parts)
        added = AddedColumns(self._session, shown, self._parts)
        items = self._parts["items"]
        self._changes = Changes(scn, known, longs.read, added.read, self._polled, self._is_gone, self._swept, items)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The changes in order, `SWEPT` columns; for what is raised see `Changes.batch`."""
        with self._session.cursor() as cursor:
            cursor.arraysize = _FETCHED
            cursor.execute(composed("capture/queue/sweep", **self._parts), self._values)
            while rows := cursor.fetchmany(_FETCHED):
                items = [
                    Item(int(last), id_, int(key), int(relation), *rest) for last, id_, key, relation, *rest in rows
                ]
                batch, notes = self._changes.batch(items)
                self._notes += notes
                self._keys += [(one.key, one.id) for one in items]
                if len(batch):
                    yield batch
        self._lose(self._changes.unknown)

    def _lose(self, relations: Collection[int]) -> None:
        """Before the log has what is not known, so that no crash forgets it."""
        if relations:
            with transaction(self._session):
                for relation in sorted(relations):
                    changed(self._session, composed("capture/registry/lose", **self._parts), {"relation": relation})

    def _is_gone(self, relation: int) -> bool:
        return not execute(self._session, composed("capture/queue/named"), {"relation": relation})

    def _swept(self, statement: int) -> int:
        found = execute(self._session, composed("capture/statements/swept", **self._parts), {"id": statement})
        if found:
            return int(found[0][0])
        scn = self._values["scn"]
        with transaction(self._session):
            changed(self._session, composed("capture/statements/place", **self._parts), {"id": statement, "scn": scn})
        return scn

    def layouts(self) -> Mapping[int, Layout]:
        """The layouts that the batches given so far were written under."""
        return self._changes.used

    def make_durable(self) -> None:
        """Flush by a commit of ours all commits before it."""
        changed(self._session, composed("capture/queue/flush", **self._parts))
        execute(self._session, composed("capture/queue/commit_durably"))

    def purge(self, purge: Purge, changes: int) -> None:
        """Delete what the sweep read, record the segment, commit."""
        taken = len(self._keys) - self._notes
        if taken != changes:
            raise _not_there(purge, changes, taken)
        with transaction(self._session):
            registry.expect_fence(self._session, self._parts, self._epoch)
            gone = _deleted(self._session, self._parts, self._keys)
            if gone != len(self._keys):
                raise _not_there(purge, changes, gone - self._notes)
            registry.record(self._session, self._parts, "capture/registry/record", purge.segment, purge.sha256)
        self._purged = True

    def settle(self) -> None:
        """Where nothing but notes of definitions was read: take them out, they were compared with the catalog."""
        if self._keys and len(self._keys) == self._notes and not self._purged:
            with transaction(self._session):
                registry.expect_fence(self._session, self._parts, self._epoch)
                _deleted(self._session, self._parts, self._keys)

    def deletion(self, column: str, number: object) -> str:
        """The statement that takes changes out of ITEMS, for an administrator."""
        return deletion(self._parts["items"], column, number)


def heal(
    session: oracledb.Connection,
    parts: Mapping[str, str],
    epoch: int,
    purge: Purge,
    changes: Iterable[Mapping[str, Sequence[object]]],
) -> bool:
    """Purge changes by `keys` and `transactions`, and record it; False, and nothing is done, if one is not there."""
    try:
        with transaction(session):
            registry.expect_fence(session, parts, epoch)
            for some in changes:
                pairs = zip(some["keys"], some["transactions"], strict=True)
                keys = [(int(str(key)), id_of(str(one))) for key, one in pairs]
                if _deleted(session, parts, keys) != len(keys):
                    raise _Missing
            registry.record(session, parts, "capture/registry/record", purge.segment, purge.sha256)
    except _Missing:
        return False
    return True


def accept(session: oracledb.Connection, parts: Mapping[str, str], epoch: int, segment: int, sha256: str) -> str:
    """Take this source as the one whose log ends with `segment`, with nothing queued; its new incarnation."""
    with transaction(session):
        registry.expect_fence(session, parts, epoch)
        changed(session, composed("capture/queue/purge_all", **parts))
        registry.record(session, parts, "capture/registry/accept", segment, sha256)
        found = registry.state(session, parts)
    assert found is not None
    return found.source.incarnation


class _Missing(Exception):
    """A change of the log is not in ITEMS."""


def _deleted(session: oracledb.Connection, parts: Mapping[str, str], keys: Sequence[_Key]) -> int:
    statement = composed("capture/queue/purge", **parts)
    pieces = (keys[place : place + _PURGED] for place in range(0, len(keys), _PURGED))
    return sum(changed_by_all(session, statement, piece) for piece in pieces)


def _not_there(purge: Purge, changes: int, found: int) -> SluiceError:
    return SluiceError(
        68,
        f"segment {purge.segment} holds {changes} changes, but {found} of them are in ITEMS; nothing was purged",
        "somebody else writes to ITEMS; stop that, then run initial_update for the slaves of this source",
    )
