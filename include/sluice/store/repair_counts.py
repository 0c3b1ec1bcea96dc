"""Counts of the rows that a repair writes at a point: noted before these are committed, so that a step that is begun
again does not count them again. They stand beside the point, and go with it.
"""

from __future__ import annotations

from sqlalchemy import func, select

from sluice.errors import TransientError
from sluice.store.engine import Store
from sluice.store.tables import point

# Two numbers, which mean what the repair says.
Counts = tuple[int, int]
_REPAIRED = "repaired"


def note(store: Store, number: int, batch: int, counts: Counts) -> Counts:
    """Note what is about to be committed of a batch; what is to be counted for it.

    Args:
        number: of the point.

    Raises:
        TransientError: SLC-083, the point is over: the job that asked for these rows is gone.
    """
    this = point.c.id == number
    with store.begin() as connection:
        alive = select(point.c.progress).where(this, point.c.deadline > func.clock_timestamp())
        row = connection.execute(alive.with_for_update()).one_or_none()
        if row is None:
            raise TransientError(
                83,
                f"the point {number} at which rows were to be repaired is over",
                "what was written before is correct; it is tried again at another point",
            )
        batches = (row.progress or {}).get(_REPAIRED, {})
        before = batches.get(str(batch), (0, 0))
        # If they were committed before, no row is deleted again; if not, the same rows are.
        larger = max(before[0], counts[0]), max(before[1], counts[1])
        values = {"progress": {_REPAIRED: {**batches, str(batch): larger}}}
        connection.execute(point.update().where(this).values(values))
    return larger


def read(store: Store, number: int) -> dict[int, Counts]:
    """By batch, what was noted at a point; the last one may not have been committed."""
    with store.begin() as connection:
        progress = connection.execute(select(point.c.progress).where(point.c.id == number)).scalar()
    batches = (progress or {}).get(_REPAIRED, {})
    return {int(batch): (counts[0], counts[1]) for batch, counts in batches.items()}
