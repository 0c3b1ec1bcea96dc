"""A source that goes on as another server: its log goes on, and so do slaves that have nothing but what is in it.

An initial update reads what is not published yet, and the old server may have lost that. So a slave goes on only if
two sweeps are in the log that were listed after it was full. The second of them began when the first was over, and the
new server has the record of it: so it has what was committed before that, and the slave was filled with no more.
"""

from __future__ import annotations

from sqlalchemy import Row, distinct, func, select, update

from sluice.errors import FencedError
from sluice.model.names import Pair
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import kept_versions, leases, replications, updates
from sluice.store.engine import Store
from sluice.store.leases import Lease
from sluice.store.tables import replication, segment

SWEEPS = 2
_WAY = (Status.INITIAL, Status.TRANSITION, Status.NORMAL)


def record(
    store: Store,
    held: Lease,
    source: str,
    last: int,
    before: str,
    incarnation: str,
    recorded: int,
    *,
    has_all: bool = False,
) -> list[str]:
    """Let the log of a source go on with another incarnation of it; the slaves that are INCONSISTENT by that.

    Initial updates that are under way, and data that is kept of one, are of the old server: they are forgotten.

    Args:
        last: the segment that the log ends with.
        before: the incarnation that it was written from.
        recorded: the last segment that the new server had a record of.
        has_all: the new server is known to have all that slaves were filled with.

    Raises:
        FencedError: SLC-050, another publisher took over.
    """
    with store.begin() as connection:
        leases.expect_held(connection, held)
        known = (segment.c.source == source, segment.c.number == last, segment.c.incarnation == before)
        later = select(segment.c.number).where(segment.c.source == source, segment.c.number > last)
        if (
            connection.execute(later.limit(1)).first()
            or connection.execute(update(segment).where(*known).values(incarnation=incarnation)).rowcount != 1
        ):
            raise FencedError(50, f"{held.name} was taken over before the log went on with another server")
        filled = select(replication).where(replication.c.source == source, replication.c.status.in_(_WAY))
        broken = []
        for row in connection.execute(filled.order_by(replication.c.slave).with_for_update()).all():
            since = distinct(segment.c.snapshot)
            listed = select(func.count(since)).where(
                segment.c.source == source, segment.c.number > row.filled_at, segment.c.number <= recorded
            )
            if why := _doubt(row, None if has_all else connection.execute(listed).scalar_one()):
                replications.record_in(connection, Pair(source, row.slave), ReplicationEvent.BREAK, why)
                broken.append(row.slave)
        updates.forget_in(connection, source)
        kept_versions.keep_only_in(connection, source, ())
    return broken


def _doubt(row: Row[tuple[object, ...]], sweeps: int | None) -> str | None:
    """Why a slave may have what the new server has not; None if it has not.

    Args:
        sweeps: listed since it was filled; None if the new server has all that it was filled with.
    """
    if row.status != Status.NORMAL:
        return "another server took the source's place during its initial update"
    if sweeps is not None and (row.filled_at is None or sweeps < SWEEPS):
        return (
            "another server took the source's place, and too little was published since the slave's initial update to "
            "tell that this server has all that the slave was filled with"
        )
    return None
