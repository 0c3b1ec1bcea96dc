"""One publisher of one source: sweep -> segment -> manifest -> purge, each step durable before the next.

The order is the rule (R2): what ITEMS loses is in the manifest, what is in the manifest is on the disk, and what is on
the disk can no longer be lost by the source.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import pyarrow as pa

from sluice.capture.successors import expect_newest
from sluice.changelog.manifest import Manifest, Segment
from sluice.changelog.schema import LOGGED
from sluice.changelog.segment_file import is_segment_of
from sluice.changelog.segment_files import SegmentFiles, absent
from sluice.changelog.transaction_cutter import Cut
from sluice.crash import CrashPoint, crash_if_asked
from sluice.errors import AGAIN, SluiceError, StrangeSource, TransientError
from sluice.log import event
from sluice.model.names import TableName
from sluice.model.position import START
from sluice.model.sequence import SequenceValue
from sluice.publish.change_filter import EVERYTHING, PublishFilter
from sluice.publish.queue_guard import QueueGuard
from sluice.publish.row_counts import Counting
from sluice.publish.same_transactions import fingerprints
from sluice.store.leases import Lease
from sluice.vendors.protocol.master import Source
from sluice.vendors.protocol.sweep import Purge, SourceState, Sweep

# A sweep is listed in about so many parts, so that slaves have the first while the publisher goes on.
SEGMENTS_A_SWEEP = 8


@dataclass(frozen=True)
class PublishResult:
    """The result of one sweep; `more`: its limit left changes in ITEMS for the next one."""

    segments: int = 0
    transactions: int = 0
    changes: int = 0
    more: bool = False

    def __add__(self, later: PublishResult) -> PublishResult:
        """The result of both, one after the other."""
        return PublishResult(
            self.segments + later.segments,
            self.transactions + later.transactions,
            self.changes + later.changes,
            later.more,
        )


@dataclass(frozen=True)
class PointRequest:
    """A request for a point (R10), and the snapshot that was exported for it: its id, and its text."""

    request: int
    snapshot_id: str
    snapshot: str


@dataclass
class _OrdinalCounter:
    """Gives each transaction its ordinal, across the batches of one sweep."""

    ordinal: int
    _last: int = field(default=-1)

    def number(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        last = batch.column("last").to_numpy()
        begins = np.concatenate(([last[0] != self._last], last[1:] != last[:-1]))
        ordinals = self.ordinal + np.cumsum(begins)
        self.ordinal, self._last = int(ordinals[-1]), int(last[-1])
        columns = [batch.column(name) for name in LOGGED.names[1:]]
        return pa.RecordBatch.from_arrays([pa.array(ordinals), *columns], schema=LOGGED)


class Publisher:
    """Publishes one source under one lease.

    Args:
        logged: values of sequences that are in the log already; others are logged again.
        lose: called before a segment is listed that lacks rows, with their tables and the reasons.
    """

    def __init__(
        self,
        source: str,
        database: Source,
        manifest: Manifest,
        files: SegmentFiles,
        lease: Lease,
        outgoing: PublishFilter = EVERYTHING,
        genuine: QueueGuard | None = None,
        logged: Iterable[SequenceValue] = (),
        lose: Callable[[Mapping[TableName, str | None]], None] | None = None,
    ) -> None:
        self._source = source
        self._database = database
        self._manifest = manifest
        self._files = files
        self._lease = lease
        self._sequences: dict[object, SequenceValue] = {value.use: value for value in logged}
        self._outgoing = outgoing
        self._genuine = genuine
        self._lose = lose

    @property
    def logged_sequences(self) -> list[SequenceValue]:
        """The values of sequences that the publisher found or put in the log."""
        return list(self._sequences.values())

    def begin(self) -> None:
        """Take over from an earlier publisher, then delete files that it wrote and never listed.

        Raises:
            TransientError: SLC-053, nothing of the log is there: a disk that is not mounted, not one to begin on.
        """
        self._database.capture.take_over(self._lease.epoch)
        listed = self._listed_names()
        self._files.begin(new=not listed)
        names = self._files.names()
        self._expect_any(listed, names)
        for name in names:
            if name not in listed and _epoch(name, self._source) < self._lease.epoch:
                self._files.remove(name)

    def open_log(self) -> None:
        """Check that the change log is where it should be. This begins a step of a publisher that has begun.

        It creates nothing: the machine of a task may lack the shared directory.

        Raises:
            TransientError: SLC-053, nothing of the log is there: a disk that is not mounted, not one to begin on.
        """
        self._files.begin(new=False)
        newest = self._manifest.newest_kept()
        if newest and not self._files.has(newest.file.name):
            self._expect_any(self._listed_names(), self._files.names())

    def _listed_names(self) -> set[str]:
        return {segment.file.name for segment in self._manifest.kept_segments()}

    def _expect_any(self, listed: set[str], names: Iterable[str]) -> None:
        if listed and listed.isdisjoint(names):
            raise absent(f"none of the {len(listed)} segments of {self._source} is where the change log should be")

    def publish(self, max_changes: int | None, asked: PointRequest | None = None) -> PublishResult:
        """One sweep.

        Args:
            max_changes: bound of the sweep, in changes; None takes everything that is visible.
            asked: for a point: nothing is taken that its snapshot does not show. It is answered when the last sweep of
                that is listed, which is the one that leaves no `more` (R10).

        Raises:
            FencedError: another publisher took over; nothing is lost.
            SluiceError: SLC-048 if the source is not the one that the log was written from; SLC-552 if it is, and
                another server took its place.
            TransientError: SLC-083, another server took its place, and the next run goes on with it.
        """
        with ExitStack() as stack:
            sweep = stack.enter_context(
                self._database.capture.sweep(self._lease.epoch, max_changes, asked.snapshot if asked else None)
            )
            tail = self._manifest.tail()
            if tail and (unrecorded := self._succession(sweep.state, tail)) is not None:
                stack.pop_all().close()
                self._succeed(sweep.state, tail, unrecorded, asked)
                return self.publish(max_changes, asked)
            if unpurged := self._unpurged_segments(sweep.state, tail):
                stack.pop_all().close()
                self._heal(sweep.state, unpurged)
                return self.publish(max_changes, asked)
            size = max_changes and -(-max_changes // SEGMENTS_A_SWEEP)
            return self._append(sweep, tail, size, asked)

    def _append(
        self, sweep: Sweep, tail: Segment | None, size: int | None, asked: PointRequest | None
    ) -> PublishResult:
        """List what is swept, a segment as soon as it is written; then purge all of it."""
        begin = tail.end if tail else START
        counted = _OrdinalCounter(begin.ordinal)

        def log_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
            if self._genuine:
                self._genuine.expect(batch, sweep)
            if self._lose and (tables := self._outgoing.find_lost(batch, sweep.layouts())):
                self._lose(tables)
            return counted.number(self._outgoing.apply(batch, sweep.layouts()))

        # By `map`, which holds no batch while the next is made: one change may be hundreds of megabytes.
        cut = Cut([map(log_batch, sweep.batches())])
        if not cut.more:
            if asked and not sweep.more:
                self._manifest.answer_at(asked.request, asked.snapshot_id, begin)
            return PublishResult(more=sweep.more)
        crash_if_asked(CrashPoint.SWEPT)
        moved = self._moved_sequences()
        sweep.make_durable()
        end, changes = begin, 0
        while cut.more:
            number, first = end.segment + 1, end.ordinal + 1
            name = f"{self._source}-{number:012d}-{self._lease.epoch}-{uuid.uuid4().hex}"
            counting = Counting()
            # By `map`, as above.
            written = self._files.write(name, map(counting.count, cut.piece(size)))
            crash_if_asked(CrashPoint.WRITTEN)
            segment = Segment(
                number=number,
                file=written,
                first_ordinal=first,
                last_ordinal=cut.ordinal,
                changes=cut.rows,
                incarnation=sweep.state.incarnation,
                snapshot=sweep.snapshot.text,
                sequences=tuple(moved),
            )
            # Some captures know only at the end whether more is left.
            answered = (asked.request, asked.snapshot_id) if asked and not (cut.more or sweep.more) else None
            layouts = sweep.layouts()
            activity = counting.by_table(layouts)
            self._manifest.list_segment(self._lease, segment, layouts, answered, activity)
            event("segment", source=self._source, number=number, end=segment.end, changes=segment.changes)
            self._sequences.update((value.use, value) for value in moved)
            moved = []
            end, changes = segment.end, changes + segment.changes
            crash_if_asked(CrashPoint.LISTED)
        sweep.purge(Purge(end.segment, written.sha256), changes)
        crash_if_asked(CrashPoint.PURGED)
        return PublishResult(end.segment - begin.segment, end.ordinal - begin.ordinal, changes, sweep.more)

    def _moved_sequences(self) -> list[SequenceValue]:
        """Sequences that went on since the last segment; read after the snapshot, none is behind its rows."""
        try:
            values = self._database.master.sequences()
        except TransientError as error:
            event("sequences left for the next segment", source=self._source, why=error.fact)
            return []
        return [value for value in values if self._sequences.get(value.use) != value]

    def _succession(self, state: SourceState, tail: Segment) -> list[Segment] | None:
        """The segments that a server has no record of, if it took the place of the one that the log was written from;
        None if it did not, or if it lacks records of more than one sweep.

        What it has of the publisher was written into the old one's log after all that was published then, and servers
        copy that log in its order. So it has lost nothing of that, whatever else was lost.

        Raises:
            SluiceError: SLC-552, another server took the place of this one.
        """
        if state.incarnation == tail.incarnation:
            return None
        expect_newest(self._source, state, tail.incarnation, self._manifest.former())
        if not state.succeeds(tail.incarnation):
            return None
        segments = self._manifest.beyond(state.segment - 1)
        recorded = [(segment.number, segment.file.sha256) for segment in segments if segment.number <= state.segment]
        unrecorded = [segment for segment in segments if segment.number > state.segment]
        is_known = recorded == ([(state.segment, state.sha256)] if state.segment else [])
        return unrecorded if is_known and all(segment.snapshot == tail.snapshot for segment in unrecorded) else None

    def _succeed(
        self, state: SourceState, tail: Segment, unrecorded: list[Segment], asked: PointRequest | None
    ) -> None:
        """Go on with a successor. A snapshot for a point, or a rest of a queue, may be of the old server."""
        if unrecorded and not self._has(unrecorded, tail.snapshot):
            raise self._elsewhere(state, tail)
        broken = self._manifest.succeed(self._lease, tail, state.incarnation, state.segment)
        facts = {"before": tail.incarnation, "now": state.incarnation, "inconsistent": ",".join(broken)}
        event("another server took the source's place", source=self._source, **facts)
        if asked or self._database.capture.backlog():
            raise TransientError(
                83,
                f"another server took the place of {self._source} while it was read",
                f"nothing is lost; the next run goes on with that server, and {AGAIN}",
            )

    def _has(self, segments: list[Segment], shown: str) -> bool:
        """Whether the server has each transaction of these segments, with the same changes.

        Args:
            shown: the snapshot that they were read in.
        """
        files = (self._files.read(segment.file, segment.first_ordinal - 1, LOGGED) for segment in segments)
        listed = fingerprints(chain.from_iterable(files))
        with self._database.capture.sweep(self._lease.epoch, None, shown) as sweep:
            swept = (self._outgoing.apply(batch, sweep.layouts()) for batch in sweep.batches())
            present = fingerprints(swept, listed.keys())
        return listed == present

    def _unpurged_segments(self, state: SourceState, tail: Segment | None) -> list[Segment]:
        """The segments of a sweep whose purge was missed. Any other difference means another source."""
        ours = tail is None or tail.incarnation == state.incarnation
        if ours and (state.segment, state.sha256) == ((tail.number, tail.file.sha256) if tail else (0, "")):
            return []
        if ours and tail and state.segment < tail.number:
            unpurged = self._manifest.beyond(state.segment)
            if all(segment.snapshot == tail.snapshot for segment in unpurged):
                return unpurged
        raise self._elsewhere(state, tail)

    def _elsewhere(self, state: SourceState, tail: Segment | None) -> SluiceError:
        return StrangeSource(
            48,
            f"source {self._source} is not where its change log ends: it purged segment {state.segment} as "
            f"{state.incarnation}, the log ends with segment {tail.number if tail else 0} of "
            f"{tail.incarnation if tail else 'nobody'}",
            "it was restored, failed over, or its control store was; nothing was published. Run "
            "the bootstrap DAG with rebase, then initial_update for all slaves of this source",
        )

    def purge_listed(self) -> bool:
        """Purge what an earlier publisher listed, and did not live to purge. False if that is not known, since another
        server took the source's place.
        """
        state, tail = self._database.capture.state(), self._manifest.tail()
        if state and tail and state.incarnation != tail.incarnation:
            return False
        if state and (unpurged := self._unpurged_segments(state, tail)):
            self._heal(state, unpurged)
        return True

    def _heal(self, state: SourceState, unpurged: list[Segment]) -> None:
        names = {"keys": "repl_key", "transactions": "trans_key"}
        batches = (batch for segment in unpurged for batch in self._files.read(segment.file, segment.first_ordinal - 1))
        changes = ({name: batch.column(column).to_pylist() for name, column in names.items()} for batch in batches)
        last = unpurged[-1]
        # A purge that was missed has left all of them. A server that is set back to an earlier moment has not.
        if not self._database.capture.heal(self._lease.epoch, Purge(last.number, last.file.sha256), changes):
            raise self._elsewhere(state, last)


def _epoch(name: str, source: str) -> int:
    """The lease a file was written under; files of other sources count as newer than any."""
    return int(name.rsplit("-", 2)[1]) if is_segment_of(name, source) else 2**63
