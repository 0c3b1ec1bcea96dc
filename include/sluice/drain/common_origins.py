"""Tables of a slave that a third database sends there, and to the slave's master, each on a way of its own.

With `block_loop` the master does not hand them on, and one of the two ways is faster. So what the slave has of them and
the master has not, may be on its way to the master. Whoever replaces the slave's rows by the master's loses it: it does
not come again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from sluice import shell
from sluice.airflow_api import standby
from sluice.changelog import points
from sluice.changelog.points import PointWait
from sluice.context import Context
from sluice.drain.shared_tables import Origin, common_origins
from sluice.errors import SluiceError, TransientError
from sluice.model.names import Pair, TableName
from sluice.state.replication import DELIVERING, Status
from sluice.store import blocked, replications

_LOOK_S = 0.2


def expect_arriving(context: Context, pair: Pair, on_slave: TableName) -> None:
    """See that rows of others come to the master as they come to the slave.

    Raises:
        SluiceError: SLC-603, some do not.
    """
    _expect_arriving(context, pair, on_slave, common_origins(context, pair, [on_slave]))


def _expect_arriving(context: Context, pair: Pair, on_slave: TableName, origins: Iterable[Origin]) -> None:
    for one, table in ((one, origin.table) for origin in origins for one in origin.ways):
        if why := _not_arriving(context, one, table):
            raise SluiceError(
                603,
                f"rows of {on_slave} on slave {pair.slave} cannot be repaired by {pair.source}: {one.source} sends "
                f"them to both, and {why}",
                "what was repaired before is correct, and nothing else was changed; see "
                f"`{shell.status()}`. Once that is over, type the repair again",
            )


def _not_arriving(context: Context, pair: Pair, table: TableName) -> str:
    """Why a slave does not get a table now, or "" if it does."""
    store = context.store
    if (status := replications.get(store, pair).status) is not Status.NORMAL:
        return f"its slave {pair.slave} is {status}"
    if context.publish_switch(pair.source).paused():
        return f"the publisher of {pair.source} is paused"
    if who := standby.paused_by(store, pair, context.switch(pair)):
        return f"its drain into {pair.slave} was paused by {who}"
    if holds := replications.holds(store, pair):
        return f"its drain into {pair.slave} is on standby ({', '.join(holds)})"
    if skipped := blocked.skipped_tables(store, pair).get(table):
        return f"{skipped.actor} skipped {table} for {pair.slave}"
    return ""


@contextmanager
def held_together(context: Context, pair: Pair, on_slave: TableName, patience_s: float) -> Iterator[Callable[[], None]]:
    """Keep master and slave at one point of the stream of each database that sends this table to both: each has what
    the other has of it (R10).

    Held before a point of the master's own. So two that cross, by each master of one slave, would wait for each other:
    there is one repair at a time.

    Returns:
        what sees, in each transaction of the slave's before it writes, that it still is so. It raises TransientError
        SLC-607.

    Raises:
        SluiceError: SLC-603, rows of others do not come to both.
        TransientError: SLC-091, one of the two does not come there; SLC-094, no publisher answered.
    """
    origins, numbers = common_origins(context, pair, [on_slave]), list[int]()

    def delivered() -> list[object]:
        """What changes with all that fills one of the two otherwise, or leaves the table out."""
        known = ((replications.get(context.store, one), origin.table) for origin in origins for one in origin.ways)
        return [
            (one.status, one.update_id, table in blocked.skipped_tables(context.store, one.pair))
            for one, table in known
        ]

    began = delivered()
    _expect_arriving(context, pair, on_slave, origins)

    def expect_held() -> None:
        if origins and not (delivered() == began and points.all_hold(context.store, numbers)):
            raise TransientError(
                607,
                f"master {pair.source} and slave {pair.slave} were no longer held at one point of the stream of "
                f"{' and '.join(sorted({one.to_slave.source for one in origins}))}",
                "what was written before is correct; it is tried again at another point",
            )

    with ExitStack() as stack:
        for some in _in_order(origins):
            slaves = [one.slave for one in some]
            held = points.hold(context.store, some[0].source, slaves, patience_s, context.ask_publisher)
            point = stack.enter_context(held)
            numbers.append(point.id)
            for one in some:
                wait = PointWait(one, point.position, patience_s, nearing=True)
                # What the store knows of is in the slave.
                while not wait.has_arrived(replications.get(context.store, one).position.ordinal):
                    time.sleep(_LOOK_S)
        yield expect_held


def _in_order(origins: Sequence[Origin]) -> list[list[Pair]]:
    """The replications of each source that stand at one point. Where two sources are of one database, the master's
    point comes later: it has what the slave has, and more."""
    held: dict[str, set[Pair]] = {}
    for one in (*(origin.to_slave for origin in origins), *(origin.to_master for origin in origins)):
        held.setdefault(one.source, set()).add(one)
    return [sorted(pairs) for pairs in held.values()]


def lacking(context: Context, pair: Pair, tables: Iterable[TableName]) -> Callable[[], TransientError | None]:
    """What tells whether a master has by then what others have sent to its slave by now: the error if it has not.

    An initial update replaced that. Compared with a master that has it, the slave lacks it; compared with one that has
    not, the two seem equal.

    Args:
        tables: of the master.
    """
    mapper, store = context.config.slave(pair.slave).mapper, context.store
    on_slave = [mapper.table(one) for one in tables if not mapper.excludes(one)]
    wanted: dict[Pair, int] = {}
    for origin in common_origins(context, pair, on_slave):
        there = replications.get(store, origin.to_slave)
        # Positions in two streams cannot be compared.
        if there.status in DELIVERING and origin.to_slave.source == origin.to_master.source:
            wanted[origin.to_master] = max(wanted.get(origin.to_master, 0), there.position.ordinal)

    def error() -> TransientError | None:
        for one, ordinal in wanted.items():
            known = replications.get(store, one)
            if (lacks := ordinal - known.position.ordinal) > 0 or known.status not in DELIVERING:
                what = (
                    f"transactions: {lacks}"
                    if known.status in DELIVERING
                    else f"what it is given: it is {known.status}"
                )
                return TransientError(
                    606,
                    f"the initial update of {pair.slave} does not end yet: {pair.slave} has got transactions of "
                    f"{one.source}, and {one.slave}, which is to be compared with it, lacks {what}",
                    f"the update ends by itself when they are there; see `{shell.status()}`: the drain into "
                    f"{one.slave} may be paused, or on standby. To give the update up, type: {shell.cancel(pair)}",
                )
        return None

    return error
