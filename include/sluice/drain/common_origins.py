"""Tables of a slave that a third database sends there, and to the slave's master, each on a way of its own.

With `block_loop` the master does not hand them on, and one of the two ways is faster. So what the slave has of them and
the master has not, may be on its way to the master. Whoever replaced the slave's rows by the master's would lose it: it
does not come again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from sluice import shell
from sluice.changelog import points
from sluice.changelog.points import PointWait
from sluice.context import Context
from sluice.drain.shared_tables import common_origins
from sluice.errors import SluiceError
from sluice.model.names import Pair, TableName
from sluice.state.replication import UNDER_WAY, Status
from sluice.store import leases, replications

_LOOK_S = 0.2
# The slave has nothing of it that is to be believed.
_NOTHING = frozenset({Status.UNCONFIGURED, Status.INCONSISTENT})


def expect_normal(context: Context, pair: Pair, on_slave: TableName) -> None:
    """See that rows of others come to the master as they come to the slave.

    Raises:
        SluiceError: SLC-603, some do not: nobody knows what one of the two has of them.
    """
    for one in (each for both in common_origins(context, pair, on_slave) for each in both):
        if (status := replications.get(context.store, one).status) is not Status.NORMAL:
            raise SluiceError(
                603,
                f"rows of {on_slave} on slave {pair.slave} cannot be repaired by {pair.source}: {one.source} sends "
                f"that table to both, and its slave {one.slave} is {status}",
                f"nothing was changed in it; see `{shell.status()}`. Once an initial update of {one.slave} has ended, "
                "type the repair again",
            )


@contextmanager
def held_together(context: Context, pair: Pair, on_slave: TableName, patience_s: float) -> Iterator[None]:
    """Keep master and slave at one point of the stream of each database that sends this table to both: each has what
    the other has of it (R10).

    Raises:
        TransientError: SLC-091, one of the two does not come there; SLC-094, no publisher answered.
    """
    with ExitStack() as stack:
        for to_slave, to_master in common_origins(context, pair, on_slave):
            # Where these are two entries of one database, the master has what was published later, too.
            one_stream = to_slave.source == to_master.source
            for some in [(to_slave, to_master)] if one_stream else [(to_slave,), (to_master,)]:
                _hold(context, some, patience_s, stack)
        yield


def _hold(context: Context, pairs: tuple[Pair, ...], patience_s: float, stack: ExitStack) -> None:
    slaves = [one.slave for one in pairs]
    held = points.held(context.store, pairs[0].source, slaves, patience_s, context.ask_publisher)
    point = stack.enter_context(held)
    for one in pairs:
        wait = PointWait(one, point.position, patience_s, nearing=True)
        # What the store knows of is in the slave.
        while not wait.over(replications.get(context.store, one).position.ordinal):
            time.sleep(_LOOK_S)


def expect_still(context: Context, pair: Pair, tables: Iterable[TableName]) -> None:
    """See that an initial update of these tables of a master loses no rows that others have sent to its slave: their
    streams to the slave stand still all the while, at places that the master has come to. What is behind these is
    delivered to the slave afterwards.

    Raises:
        SluiceError: SLC-606, it might.
    """
    mapper = context.config.slave(pair.slave).mapper
    for name in (one for one in tables if not mapper.excludes(one)):
        for to_slave, to_master in common_origins(context, pair, mapper.table(name)):
            if found := _in_the_way(context, to_slave, to_master):
                why, way = found
                raise SluiceError(
                    606,
                    f"an initial update of {pair.slave} from {pair.source} could lose rows of {name}: "
                    f"{to_slave.source} sends them to both, and {why}",
                    f'{way}; then trigger it again. See both_directions.md, "A slave of two masters"',
                )


def _in_the_way(context: Context, to_slave: Pair, to_master: Pair) -> tuple[str, str] | None:
    """Why rows could be lost that came from there, and the way out; None if none can be."""
    store = context.store
    slave, master = (replications.get(store, one) for one in (to_slave, to_master))
    if slave.status in _NOTHING:
        return None
    if slave.status in UNDER_WAY:
        return f"its own initial update of {to_slave.slave} is under way", "wait for its end"
    if master.status is not Status.NORMAL:
        return f"its slave {to_master.slave} is {master.status}", f"let an initial update of {to_master.slave} end"
    if not replications.holds(store, to_slave):
        what = f"its drain into {to_slave.slave} may deliver some that {to_master.slave} has not yet"
        return what, f"type: {shell.pause(to_slave)}, and after the update: {shell.unpause(to_slave)}"
    if leases.is_held(store, f"drain {to_slave}"):
        return f"its drain into {to_slave.slave} is still at work", "wait until its run has ended"
    if master.position.ordinal < slave.position.ordinal:
        behind = f"{to_master.slave} is at transaction {master.position.ordinal} of its stream"
        return (
            f"{behind}, and {to_slave.slave} at {slave.position.ordinal} already",
            f"wait until {to_master.slave} is not behind, see `{shell.status()}`",
        )
    return None
