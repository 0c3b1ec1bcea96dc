"""Tables that a third database sends both to a slave and to the slave's master.

With `block_loop` the master does not hand them on, and one of the two ways is faster. So rows that the slave has and
the master lacks may still be on their way to the master. If the slave's rows are replaced by the master's, these rows
are lost: they do not come again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from sluice import shell
from sluice.airflow_api import standby
from sluice.changelog import points
from sluice.changelog.points import PointWait
from sluice.context import Context
from sluice.drain.shared_tables import ThirdDatabase, third_databases
from sluice.errors import SluiceError, TransientError
from sluice.model.names import Pair, TableName
from sluice.state.replication import DELIVERING, Status
from sluice.store import blocked, replications

_LOOK_S = 0.2


def expect_arriving(context: Context, pair: Pair, on_slave: TableName) -> None:
    """Check that rows of third databases reach the master as they reach the slave.

    Raises:
        SluiceError: SLC-603, some do not.
    """
    _expect_arriving(context, pair, on_slave, third_databases(context, pair, [on_slave]))


def _expect_arriving(context: Context, pair: Pair, on_slave: TableName, origins: Iterable[ThirdDatabase]) -> None:
    for way, table in ((way, origin.table) for origin in origins for way in origin.ways):
        if why := _not_arriving(context, way, table):
            raise SluiceError(
                603,
                f"rows of {on_slave} on slave {pair.slave} cannot be repaired by {pair.source}: {way.source} sends "
                f"them to both, and {why}",
                "what was repaired before is correct, and nothing else was changed; see "
                f"`{shell.status()}`. Once that is over, type the repair again",
            )


def _not_arriving(context: Context, pair: Pair, table: TableName) -> str:
    """Why a slave does not get a table now, or "" if it does."""
    store = context.store
    if (status := replications.get(store, pair).status) is not Status.NORMAL:
        return f"its slave {pair.slave} is {status}"
    if context.publish_switch(pair.source).find_pause():
        return f"the publisher of {pair.source} is paused"
    if who := standby.paused_by(store, pair, context.switch(pair)):
        return f"its drain into {pair.slave} was paused by {who}"
    if holds := replications.holds(store, pair):
        return f"its drain into {pair.slave} is on standby ({', '.join(holds)})"
    if skipped := blocked.skipped_tables(store, pair).get(table):
        return f"{skipped.actor} skipped {table} for {pair.slave}"
    return ""


@dataclass(frozen=True)
class HeldTogether:
    """A master and a slave that are held at one point of each stream that comes to both.

    Attributes:
        states: those of the replications that bring it, before they were held.
        points: the ids of the points.
    """

    pair: Pair
    origins: Sequence[ThirdDatabase]
    states: Sequence[object]
    points: Sequence[int]

    def expect(self, context: Context) -> None:
        """See that they still are: in each transaction of the slave before it writes, in whichever process.

        Raises:
            TransientError: SLC-083, the two are not held any more.
        """
        store = context.store
        if self.origins and not (_states(context, self.origins) == self.states and points.all_hold(store, self.points)):
            raise TransientError(
                83,
                f"master {self.pair.source} and slave {self.pair.slave} were no longer held at one point of the stream "
                f"of {' and '.join(sorted({origin.to_slave.source for origin in self.origins}))}",
                "what was written before is correct; it is tried again at another point",
            )


def _states(context: Context, origins: Iterable[ThirdDatabase]) -> list[object]:
    """The states that change if one of the two is filled in another way, or leaves the table out."""
    known = ((replications.get(context.store, way), origin.table) for origin in origins for way in origin.ways)
    return [
        (state.status, state.update_id, table in blocked.skipped_tables(context.store, state.pair))
        for state, table in known
    ]


@contextmanager
def hold_together(context: Context, pair: Pair, on_slave: TableName, patience_s: float) -> Iterator[HeldTogether]:
    """Keep master and slave at one point of the stream of each database that sends this table to both: both have
    the same changes of it (R10).

    They are held before a point of the master's own. Two repairs of one slave by its two masters would wait for each
    other, so there is one repair at a time.

    Raises:
        SluiceError: SLC-603, rows of others do not come to both.
        TransientError: SLC-091, one of the two does not come there; SLC-094, no publisher answered.
    """
    origins, numbers = third_databases(context, pair, [on_slave]), list[int]()
    began = _states(context, origins)
    _expect_arriving(context, pair, on_slave, origins)
    with ExitStack() as stack:
        for some in _in_order(origins):
            slaves = [way.slave for way in some]
            held = points.hold(context.store, some[0].source, slaves, patience_s, context.ask_publisher)
            point = stack.enter_context(held)
            numbers.append(point.id)
            for way in some:
                wait = PointWait(way, point.position, patience_s, nearing=True)
                # The slave has all that the store knows of.
                while not wait.has_arrived(replications.get(context.store, way).position.ordinal):
                    time.sleep(_LOOK_S)
        yield HeldTogether(pair, origins, began, numbers)


def _in_order(origins: Sequence[ThirdDatabase]) -> list[list[Pair]]:
    """The replications of each source, which stand at one point. If two sources are one database, the master's point
    comes later: it has all that the slave has.
    """
    held: dict[str, set[Pair]] = {}
    for pair in (*(origin.to_slave for origin in origins), *(origin.to_master for origin in origins)):
        held.setdefault(pair.source, set()).add(pair)
    return [sorted(pairs) for pairs in held.values()]


def arrival_check(context: Context, pair: Pair, tables: Iterable[TableName]) -> Callable[[], TransientError | None]:
    """Return a check whether a master has what third databases have sent to its slave by now.

    The check gives the error, or None if the master has all of it.

    An initial update replaced these rows on the slave. A comparison finds that only after the master has them.

    Args:
        tables: of the master.
    """
    mapper, store = context.config.slave(pair.slave).mapper, context.store
    on_slave = [mapper.table(table) for table in tables if not mapper.excludes(table)]
    wanted: dict[Pair, int] = {}
    for origin in third_databases(context, pair, on_slave):
        there = replications.get(store, origin.to_slave)
        # Positions in two streams cannot be compared.
        if there.status in DELIVERING and origin.to_slave.source == origin.to_master.source:
            wanted[origin.to_master] = max(wanted.get(origin.to_master, 0), there.position.ordinal)

    def error() -> TransientError | None:
        for way, ordinal in wanted.items():
            known = replications.get(store, way)
            if (lacks := ordinal - known.position.ordinal) > 0 or known.status not in DELIVERING:
                what = (
                    f"transactions: {lacks}"
                    if known.status in DELIVERING
                    else f"what it is given: it is {known.status}"
                )
                return TransientError(
                    98,
                    f"the initial update of {pair.slave} does not end yet: {pair.slave} has got transactions of "
                    f"{way.source}, and {way.slave}, which is to be compared with it, lacks {what}",
                    f"the update ends by itself when they are there; see `{shell.status()}`: the drain into "
                    f"{way.slave} may be paused, or on standby. To give the update up, type: {shell.cancel(pair)}",
                )
        return None

    return error
