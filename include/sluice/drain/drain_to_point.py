"""Drains exactly to a point, for a job that holds the slave's lease and goes on from there."""

from __future__ import annotations

import time
from collections.abc import Collection

from sluice.changelog.points import PointWait
from sluice.context import Context
from sluice.drain.step import drain_of
from sluice.model.names import Pair, TableName
from sluice.model.position import Position
from sluice.model.row_conflict import Tolerated
from sluice.store import replications

_LOOK_S = 0.2


def reach(
    context: Context, pair: Pair, epoch: int, point: Position, left_out: Collection[TableName], patience_s: float
) -> None:
    """Drain a slave to a point at which it is held, without some tables of the master.

    Args:
        left_out: the tables to leave out.
        patience_s: seconds without progress after which it fails.

    Raises:
        SluiceError: what stops a drain; SLC-091, it does not come there; SLC-092, it is beyond.
    """
    slave, tolerated = context.slave(pair), Tolerated()
    drain = drain_of(context, pair, slave, left_out=left_out)
    try:
        drain.begin(epoch)
        waiting = PointWait(pair, point, patience_s)
        while not waiting.has_arrived(drain.position.ordinal):
            if delivered := drain.deliver():
                waiting = PointWait(pair, point, patience_s)
                tolerated += delivered.tolerated
            else:
                # Another comparison holds the slave at an earlier point.
                time.sleep(_LOOK_S)
        replications.record_delivery(context.store, pair, drain.make_durable(), tolerated)
    finally:
        drain.close()
        slave.close()
