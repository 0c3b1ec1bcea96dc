"""Fences earlier jobs out of a slave (R6)."""

from __future__ import annotations

from contextlib import closing

from sluice.context import Context
from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.names import Pair
from sluice.store.leases import Lease


def fence_out(context: Context, pair: Pair, lease: Lease) -> None:
    """Raise a slave's fence. One that is not reached stays as it is: its gate is shut all the same, and the stream does
    not begin with what is written there (R8).
    """
    try:
        with closing(context.slave(pair)) as slave:
            slave.take_over(lease.epoch)
    except SluiceError as error:
        event("not reached", slave=pair.slave, why=error.fact)
