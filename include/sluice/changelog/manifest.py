"""The manifest: which segments exist. A segment is published when, and only when, it is listed here (R2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, Row, ScalarSelect, Select, delete, exists, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from sluice.changelog.segment_file import SegmentFile
from sluice.errors import FencedError, LogTrimmed
from sluice.model.activity import RowCounts
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.position import START, Position
from sluice.model.sequence import SequenceValue
from sluice.store import activities, notify, promotions, publishers, upgrades
from sluice.store.engine import Store, is_new
from sluice.store.leases import Lease
from sluice.store.tables import barrier, layout, lease, point, segment


@dataclass(frozen=True)
class Segment:
    """One listed segment; with the sequences that have moved since the one before."""

    number: int
    file: SegmentFile
    first_ordinal: int
    last_ordinal: int
    changes: int
    incarnation: str
    snapshot: str
    sequences: tuple[SequenceValue, ...] = ()
    published_at: datetime | None = None

    @property
    def end(self) -> Position:
        """The position of a slave that has the whole segment."""
        return Position(self.number, self.last_ordinal)


class Manifest:
    """The segments of one source."""

    def __init__(self, store: Store, source: str) -> None:
        self._store = store
        self._source = source

    def tail(self) -> Segment | None:
        """The newest segment, trimmed or not."""
        return self._newest(self._all())

    def newest_kept(self) -> Segment | None:
        """The newest segment that is still part of the log."""
        return self._newest(self._all().where(segment.c.trimmed_at.is_(None)))

    def end(self) -> Position:
        """The position of a slave that has everything published so far."""
        tail = self.tail()
        return tail.end if tail else START

    def beyond(self, number: int) -> list[Segment]:
        """The segments after that one, in order."""
        later = self._all().where(segment.c.number > number).order_by(segment.c.number)
        with self._store.begin() as connection:
            return [_segment(row) for row in connection.execute(later)]

    def since(self, number: int, most: int) -> list[Segment]:
        """The first segments from that one on that are still part of the log, in order, so many at most."""
        kept = self._all().where(segment.c.number >= number, segment.c.trimmed_at.is_(None))
        with self._store.begin() as connection:
            return [_segment(row) for row in connection.execute(kept.order_by(segment.c.number).limit(most))]

    def published_since(self, at: datetime) -> Segment | None:
        """The first segment that was published then or later, trimmed or not."""
        later = self._all().where(segment.c.published_at >= at).order_by(segment.c.number).limit(1)
        with self._store.begin() as connection:
            row = connection.execute(later).one_or_none()
        return _segment(row) if row else None

    def list_segment(
        self,
        held: Lease,
        new: Segment,
        layouts: Mapping[int, Layout],
        answered: tuple[int, str] | None = None,
        activity: Mapping[TableName, RowCounts] | None = None,
    ) -> None:
        """List a durable file: this commit publishes it. The lease is read FOR SHARE in the same transaction (R6).

        Args:
            answered: a request for a point, and the exported snapshot that this segment's end equals (R10).
            activity: rows that it changes.

        Raises:
            FencedError: SLC-050, the lease was taken over, or somebody else who has it was faster.
        """
        with self._store.begin() as connection:
            epoch = connection.execute(
                select(lease.c.epoch).where(lease.c.name == held.name).with_for_update(read=True)
            ).scalar()
            if epoch != held.epoch:
                raise FencedError(50, f"{held.name} was taken over before segment {new.number} was listed")
            for number, body in layouts.items():
                values = {"source": self._source, "id": number, "body": body.to_json()}
                connection.execute(insert(layout).values(values).on_conflict_do_nothing())
            listed = insert(segment).values(
                source=self._source,
                number=new.number,
                name=new.file.name,
                sha256=new.file.sha256,
                bytes=new.file.bytes,
                first_ordinal=new.first_ordinal,
                last_ordinal=new.last_ordinal,
                changes=new.changes,
                incarnation=new.incarnation,
                snapshot=new.snapshot,
                sequences=[value.to_json() for value in new.sequences],
                epoch=held.epoch,
            )
            if not is_new(connection, listed):
                raise FencedError(
                    50, f"{held.name} was taken over by a copy of itself, which listed segment {new.number}"
                )
            activities.count(connection, self._source, activity or {})
            publishers.count(connection, self._source, size=new.file.bytes, changes=new.changes)
            if answered:
                answer(connection, *answered, new.end)
            notify.send(connection, self._source)

    def answer_at(self, request: int, snapshot_id: str, at: Position) -> None:
        """Answer a request for a point when nothing was queued: the point is where the log ends already."""
        with self._store.begin() as connection:
            answer(connection, request, snapshot_id, at)

    def ahead(self, slave: str, position: Position, *, beyond: bool = False, most: int | None = None) -> list[Segment]:
        """The segments that a slave still needs, up to a point where it must stop to be compared (R10).

        Args:
            beyond: those behind such a point as well.
            most: no more than the first so many.

        Raises:
            SluiceError: SLC-042 if the log was trimmed past the slave.
        """
        needed = self._all().where(*_beyond(position)).order_by(segment.c.number).limit(most)
        stop = self._stop(slave)
        with self._store.begin() as connection:
            rows = connection.execute(needed.add_columns(stop.label("stop"))).all()
        if (rows and rows[0].first_ordinal > position.ordinal + 1) or any(row.trimmed_at for row in rows):
            raise LogTrimmed(
                42,
                f"slave {slave} is at transaction {position.ordinal}, but the change log of {self._source} was trimmed "
                f"past that and starts later",
                "what it lacks is gone; it has to be filled anew by initial_update",
            )
        return [_segment(row) for row in rows if beyond or row.stop is None or row.last_ordinal <= row.stop]

    def has_ahead(self, slave: str, position: Position) -> bool:
        """Whether there is anything that `ahead` would give, or raise."""
        stop = self._stop(slave)
        needed = segment.c.source == self._source, *_beyond(position)
        is_ahead = exists().where(*needed, or_(stop.is_(None), segment.c.last_ordinal <= stop))
        with self._store.begin() as connection:
            return bool(connection.execute(select(is_ahead)).scalar())

    def layouts(self, numbers: Iterable[int]) -> dict[int, Layout]:
        """Layouts by id."""
        wanted = select(layout).where(layout.c.source == self._source, layout.c.id.in_(list(numbers)))
        with self._store.begin() as connection:
            return {row.id: Layout.from_json(row.body) for row in connection.execute(wanted)}

    def newest_layouts(self) -> list[Layout]:
        """The newest layout of each table."""
        every = select(layout.c.body).where(layout.c.source == self._source).order_by(layout.c.id)
        with self._store.begin() as connection:
            layouts = map(Layout.from_json, connection.execute(every).scalars())
            return list({table.name: table for table in layouts}.values())

    def trimmable(self, durable: int, keep: timedelta) -> list[Segment]:
        """Segments that every slave has made durable, and whose time is over, in order.

        Those of the newest sweep always stay: if its purge was missed, it is made up for by what they name. So does
        whatever comes after one that stays: times may be out of order, if the clock was set.
        """
        kept = segment.c.source == self._source, segment.c.trimmed_at.is_(None)
        tail = select(segment.c.snapshot).where(segment.c.source == self._source)
        tail = tail.order_by(segment.c.number.desc()).limit(1)
        first = select(func.min(segment.c.number)).where(*kept)
        swept = first.where(segment.c.snapshot == tail.scalar_subquery())
        young = first.where(segment.c.published_at >= func.clock_timestamp() - keep)
        old = (
            self._all()
            .where(
                segment.c.trimmed_at.is_(None),
                segment.c.last_ordinal <= durable,
                segment.c.number < func.least(swept.scalar_subquery(), young.scalar_subquery()),
            )
            .order_by(segment.c.number)
        )
        with self._store.begin() as connection:
            return [_segment(row) for row in connection.execute(old)]

    def kept_segments(self) -> list[Segment]:
        """Every segment that is still part of the log."""
        with self._store.begin() as connection:
            return [_segment(row) for row in connection.execute(self._all().where(segment.c.trimmed_at.is_(None)))]

    def mark_trimmed(self, segments: list[Segment]) -> None:
        """Mark the segments as gone. The caller deletes their files after that."""
        with self._store.begin() as connection:
            connection.execute(
                update(segment)
                .where(segment.c.source == self._source, segment.c.number.in_([listed.number for listed in segments]))
                .values(trimmed_at=func.clock_timestamp())
            )

    def fold(self) -> None:
        """Forget what was trimmed, but how far that is.

        The last sweeps stay listed: they tell what a server has to have that takes the source's place.
        """
        gone = segment.c.source == self._source, segment.c.trimmed_at.is_not(None)
        sweeps = select(segment.c.snapshot).where(*gone).group_by(segment.c.snapshot)
        last = sweeps.order_by(func.max(segment.c.number).desc()).limit(promotions.SWEEPS)
        with self._store.begin() as connection:
            connection.execute(delete(segment).where(*gone, segment.c.snapshot.not_in(last)))

    def rebase(self, incarnation: str) -> None:
        """Let the log go on with a source that was restored or failed over, accepted by an operator."""
        newest = select(func.max(segment.c.number)).where(segment.c.source == self._source).scalar_subquery()
        with self._store.begin() as connection:
            connection.execute(
                update(segment)
                .where(segment.c.source == self._source, segment.c.number == newest)
                .values(incarnation=incarnation)
            )

    def succeed(
        self, held: Lease, tail: Segment, incarnation: str, recorded: int, *, has_all: bool = False
    ) -> list[str]:
        """Let the log, which ends with `tail`, go on with a successor of the source; slaves INCONSISTENT by that.

        Args:
            recorded: the last segment that the successor had a record of.
            has_all: see `promotions.record`.

        Raises:
            FencedError: SLC-050, another publisher took over.
        """
        before = tail.incarnation
        return promotions.record(
            self._store, held, self._source, tail.number, before, incarnation, recorded, has_all=has_all
        )

    def former(self) -> str | None:
        """The incarnation of the server that the last upgrade replaced; None if there was none."""
        return upgrades.former(self._store, self._source)

    def bytes(self) -> int:
        """Size of the log as it is kept now."""
        size = select(func.coalesce(func.sum(segment.c.bytes), 0)).where(
            segment.c.source == self._source, segment.c.trimmed_at.is_(None)
        )
        with self._store.begin() as connection:
            return int(connection.execute(size).scalar_one())

    def _stop(self, slave: str) -> ScalarSelect[int]:
        """The ordinal at which a slave must stop to be compared; NULL if there is none."""
        return (
            select(func.min(point.c.ordinal))
            .join(barrier, barrier.c.point == point.c.id)
            .where(
                point.c.source == self._source,
                barrier.c.slave == slave,
                ~barrier.c.passed,
                point.c.ordinal.is_not(None),
                point.c.deadline > func.clock_timestamp(),
            )
            .scalar_subquery()
        )

    def _newest(self, among: Select[tuple[object, ...]]) -> Segment | None:
        with self._store.begin() as connection:
            row = connection.execute(among.order_by(segment.c.number.desc()).limit(1)).one_or_none()
        return _segment(row) if row else None

    def _all(self) -> Select[tuple[object, ...]]:
        return select(segment).where(segment.c.source == self._source)


def _beyond(position: Position) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """The segments with what a slave lacks. They are looked up by their key, however many there are before them."""
    return segment.c.number >= position.segment, segment.c.last_ordinal > position.ordinal


def answer(connection: Connection, request: int, snapshot_id: str, at: Position) -> None:
    """Answer a request for a point in the transaction that lists the segment, so that no drain runs past the point."""
    connection.execute(
        point.update()
        .where(point.c.id == request)
        .values(snapshot_id=snapshot_id, segment=at.segment, ordinal=at.ordinal)
    )


def _segment(row: Row[tuple[object, ...]]) -> Segment:
    return Segment(
        number=row.number,
        file=SegmentFile(row.name, row.sha256, row.bytes),
        first_ordinal=row.first_ordinal,
        last_ordinal=row.last_ordinal,
        changes=row.changes,
        incarnation=row.incarnation,
        snapshot=row.snapshot,
        sequences=tuple(map(SequenceValue.from_json, row.sequences)),
        published_at=row.published_at,
    )
