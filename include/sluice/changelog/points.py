"""Points at which source and slave can be compared: asked for by a verifier, made by the publisher (R10).

1. The verifier asks, naming the slaves. 2. The publisher exports a snapshot, sweeps everything that it shows, in slices
if that is much, and answers in the transaction that lists the last segment; it keeps the snapshot open. 3. Each drain
stops at that segment's end until the verifier has opened its own snapshot of the slave there. 4. The verifier reads
both.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func, or_, select

from sluice import shell
from sluice.errors import TransientError
from sluice.log import event
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.store.engine import Store
from sluice.store.tables import barrier, point

# A request that is not renewed is void after this time.
SECONDS = 60
_VOID = timedelta(hours=1)
_KEEP_UP_S = 15.0
_LOOK_S = 0.1


class PointWait:
    """Waiting for a slave that is on its way to a point of the stream.

    Args:
        nearing: a slave that has come nearer gets as much time again.
    """

    def __init__(self, pair: Pair, at: Position, patience_s: float, *, nearing: bool = False) -> None:
        self._pair = pair
        self._at = at
        self._patience_s = patience_s
        self._nearing = nearing
        self._seen: int | None = None
        self._deadline = time.monotonic() + patience_s

    def has_arrived(self, ordinal: int, *, part_way: bool = False) -> bool:
        """Whether a slave that is there has arrived.

        Args:
            part_way: it has some of the next transaction already, so it is at no point.

        Raises:
            TransientError: SLC-091 if it does not arrive in time, SLC-092 if it is beyond.
        """
        if ordinal + part_way > self._at.ordinal:
            here = f"{ordinal}, and in the next transaction" if part_way else f"{ordinal}"
            raise TransientError(
                92,
                f"slave {self._pair.slave} is at {here}, beyond the point {self._at.ordinal}",
                "run verify again",
            )
        if self._nearing and ordinal != self._seen:
            self._seen = ordinal
            self._deadline = time.monotonic() + self._patience_s
        if ordinal < self._at.ordinal and time.monotonic() > self._deadline:
            raise TransientError(
                91,
                f"slave {self._pair.slave} is at transaction {ordinal} and did not reach {self._at.ordinal}: "
                f"for {self._patience_s:.0f} s " + ("it came no nearer" if self._nearing else "it was waited for"),
                f"see `{shell.status()}`: its drain DAG may be paused, on standby, or far behind",
            )
        return ordinal == self._at.ordinal


@dataclass(frozen=True)
class Point:
    """A position at which the slave equals the source in the exported snapshot `snapshot_id`."""

    id: int
    snapshot_id: str
    position: Position


@contextmanager
def hold(
    store: Store, source: str, slaves: Sequence[str], patience_s: float, ask_publisher: Callable[[str], None]
) -> Iterator[Point]:
    """Hold these slaves at a point until they may pass, or until the context ends.

    Args:
        ask_publisher: has a publisher of the source begin, if none is at work.

    Raises:
        TransientError: SLC-094, no publisher answered.
    """
    number = ask(store, source, slaves)
    ask_publisher(source)
    over = threading.Event()

    def keep() -> None:
        while not over.wait(_KEEP_UP_S):
            with suppress(TransientError):
                keep_up(store, number)

    thread = threading.Thread(target=keep, name="keep up", daemon=True)
    thread.start()
    try:
        point = _await_answer(store, source, number, patience_s)
        event("point", source=source, position=point.position)
        yield point
    finally:
        over.set()
        thread.join()
        close(store, number)


def _await_answer(store: Store, source: str, number: int, patience_s: float) -> Point:
    deadline = time.monotonic() + patience_s
    while (point := read_answer(store, number)) is None:
        if time.monotonic() > deadline:
            raise TransientError(
                94,
                f"no publisher of {source} answered within {patience_s:.0f} s",
                f"see its last log, and whether it is paused: {shell.unpause_publish(source)}",
            )
        time.sleep(_LOOK_S)
    return point


def ask(store: Store, source: str, slaves: Sequence[str]) -> int:
    """Ask for a point; it and its barriers are void after `SECONDS` unless kept up. Those of verifiers that died go."""
    long_void = point.c.source == source, point.c.deadline < func.clock_timestamp() - _VOID
    with store.begin() as connection:
        connection.execute(point.delete().where(*long_void))
        number = connection.execute(
            point.insert().values(source=source, deadline=_later()).returning(point.c.id)
        ).scalar_one()
        connection.execute(barrier.insert(), [{"point": number, "slave": slave} for slave in slaves])
    return int(number)


def read_answer(store: Store, number: int) -> Point | None:
    """The publisher's answer, once it is there."""
    with store.begin() as connection:
        row = connection.execute(
            select(point).where(point.c.id == number, point.c.snapshot_id.is_not(None))
        ).one_or_none()
    return Point(row.id, row.snapshot_id, Position(row.segment, row.ordinal)) if row else None


def keep_up(store: Store, number: int) -> None:
    """Put the deadline off, while a long comparison goes on. A point that is void stays so: drains have passed it."""
    holds = or_(point.c.snapshot_id.is_(None), _alive())
    with store.begin() as connection:
        connection.execute(point.update().where(point.c.id == number, holds).values(deadline=_later()))


def all_hold(store: Store, numbers: Sequence[int]) -> bool:
    """Whether all of these points hold, and go on to for as long as a transaction of a slave may take."""
    soon = point.c.deadline > func.clock_timestamp() + timedelta(seconds=SECONDS / 2)
    with store.begin() as connection:
        count = connection.execute(select(func.count()).where(point.c.id.in_(numbers), soon)).scalar()
    return count == len(numbers)


def let_pass(store: Store, number: int, slave: str) -> None:
    """Let a slave's drain go on. The slave was read at the point, or will not be."""
    with store.begin() as connection:
        connection.execute(
            barrier.update().where(barrier.c.point == number, barrier.c.slave == slave).values(passed=True)
        )


def close(store: Store, number: int) -> None:
    """End a comparison, so that the publisher may end the snapshot and every drain goes on. Delete the row: publishers
    and drains read all points each time.
    """
    with store.begin() as connection:
        connection.execute(point.delete().where(point.c.id == number))


def list_requests(store: Store, source: str) -> list[int]:
    """List the requests without an answer. If the store's clock was set back, bring their deadlines nearer: a verifier
    that is alive puts its own off in time, and the barriers of one that died soon stop no drain.
    """
    far = point.update().where(point.c.source == source, point.c.deadline > _later())
    wanted = select(point.c.id).where(point.c.source == source, point.c.snapshot_id.is_(None), _alive())
    with store.begin() as connection:
        connection.execute(far.values(deadline=_later()))
        return list(connection.execute(wanted.order_by(point.c.id)).scalars())


def alive(store: Store, numbers: Sequence[int]) -> set[int]:
    """The points that are still in use by a comparison."""
    with store.begin() as connection:
        return set(connection.execute(select(point.c.id).where(point.c.id.in_(numbers), _alive())).scalars())


def _later() -> ColumnElement[datetime]:
    return func.clock_timestamp() + timedelta(seconds=SECONDS)


def _alive() -> ColumnElement[bool]:
    return point.c.deadline > func.clock_timestamp()
