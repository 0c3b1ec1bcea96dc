"""Repair rows that both sides write: a rule decides at points of both streams, and the winner goes to the other side.

Two points are held, one of each stream, and the second is made when the first is reached. So the first side's row that
the second point's snapshot lacks cannot be: what is in it was delivered. A row is decided on only if it was not written
on the first side since its snapshot, and it is written only where it still is of the version that was decided on. So no
change is on its way to a side that the decision did not know (R10, in both directions).

This process holds the points; `both_sides_step.py` moves the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial

from sluice.changelog import points
from sluice.changelog.points import PointWait
from sluice.context import Context
from sluice.errors import FencedError, KeyConflict, TransientError
from sluice.log import event
from sluice.model.names import Pair
from sluice.repair import reverse_replication
from sluice.repair.both_sides_step import Direction, Directions, Settlement, Settling, settle_rows
from sluice.repair.counted_steps import CountedSteps
from sluice.repair.plan import RowsPlan, expect_given, expect_ready
from sluice.repair.rules import Winner
from sluice.spark.errors import raise_any
from sluice.steps import Steps
from sluice.store.comparisons import TableReport
from sluice.vendors.protocol.read import Key
from sluice.vendors.registry import vendor

_BATCH = 500
_ROUND = 20_000
# How often rows are looked at that keep changing, or that were written; each time at other points.
_ROUNDS = 5


class BothSides:
    """A repair in both directions.

    Args:
        steps: where rows are moved.
        pair: the replication whose report it is.
        opposites: the replications that go the other way.

    Raises:
        SluiceError: SLC-627, there is no opposite direction; SLC-020 and SLC-468, its slave cannot be repaired.
    """

    def __init__(self, context: Context, steps: Steps, pair: Pair, opposites: list[Pair], how: Directions) -> None:
        if error := reverse_replication.unfit_both_ways(context, pair, opposites):
            raise error
        self._context = context
        self._steps = steps
        self._pair = pair
        self._how = how
        self.opposites = opposites
        self._began = {direction: expect_ready(context, direction) for direction in (pair, *opposites)}
        self.settled = Settlement()

    def carries(self, table: TableReport) -> bool:
        """Whether rows of the slave's table go to the source's database, as far as the configuration says."""
        return reverse_replication.find_for_table(self._context, self.opposites, table.on_slave) is not None

    @property
    def strict(self) -> bool:
        """Whether every table has to go both ways."""
        return self._how.strict

    @property
    def rule_text(self) -> str:
        """The rule in words."""
        return str(self._how.rule)

    def settle(self, planned: RowsPlan) -> None:
        """Decide on the rows of a table, and write them."""
        keys = planned.keys
        for start in range(0, len(keys), _ROUND):
            self._settle(planned, keys[start : start + _ROUND])

    def _settle(self, planned: RowsPlan, keys: list[Key]) -> None:
        waiting, tried, size = set(keys), set[Key](), _BATCH
        steps = CountedSteps(self._context, self._steps, self._pair)
        try:
            for number in range(_ROUNDS):
                batches = {begin: keys[begin : begin + size] for begin in range(0, len(keys), size)}
                batches = {begin: [key for key in batch if key in waiting] for begin, batch in batches.items()}
                try:
                    self._round(planned, steps, {at: batch for at, batch in batches.items() if batch}, waiting, tried)
                except FencedError:
                    raise
                except KeyConflict:
                    if size >= len(keys) or number + 1 == _ROUNDS:
                        raise
                    # A row of another batch is in the way.
                    size = len(keys)
                except TransientError as error:
                    if number + 1 == _ROUNDS:
                        raise
                    event("repair put off", slave=self._pair.slave, table=planned.report.table, why=error.fact)
                if not waiting or self._how.dry_run:
                    break
        except BaseException:
            for to_slave, to_source in steps.lost.values():
                self.settled.add({"to_slave": to_slave, "to_source": to_source})
            raise
        self.settled.changing += len(waiting)

    def _round(
        self,
        planned: RowsPlan,
        steps: CountedSteps,
        batches: Mapping[int, Sequence[Key]],
        waiting: set[Key],
        tried: set[Key],
    ) -> None:
        """Decide on rows at a point of each stream, and write them.

        Args:
            waiting: loses the keys that need no other look.
            tried: is given the keys of rows that were to be written.

        Raises:
            SluiceError: why no more was done.
        """
        with self._hold(planned) as (first, second):
            wanted = Settling(planned.report, first, second, self._how, batches, tried)
            result = steps.run(partial(settle_rows, wanted=wanted), first.point)
        steps.forget(result["batches"])
        self.settled.add(result["counts"], result["statements"])
        waiting.difference_update(map(tuple, result["over"]))
        tried.update(map(tuple, result["tried"]))
        raise_any(filter(None, [result["failure"]]))

    @contextmanager
    def _hold(self, planned: RowsPlan) -> Iterator[list[Direction]]:
        """Hold a point of each stream. All repairs take them in one order, so none waits for one that waits for it."""
        context, table, patience_s = self._context, planned.report, self._how.patience_s
        back = reverse_replication.find_for_table(context, self.opposites, table.on_slave)
        if back is None:
            why = f"no source in the slave's database watches {table.on_slave}"
            raise reverse_replication.unlike(self._pair, table.table, why)
        expect_given(context, back, table.on_slave)
        reverse_replication.expect_two_alone(context, self._pair, back, table.table, table.on_slave)
        order = sorted([(self._pair, Winner.SOURCE, table.table), (back, Winner.SLAVE, table.on_slave)])
        with ExitStack() as stack:
            held = []
            for pair, winner, name in order:
                slave, mapper = context.config.slave(pair.slave), context.mapper(pair)
                opened = vendor(slave.vendor).repair_versions
                assert opened is not None
                info = context.connection(slave.connection)
                with closing(opened(info, pair, slave.schema_, mapper, context.unheard(pair))) as at_slave:
                    point = stack.enter_context(
                        points.hold(context.store, pair.source, [pair.slave], patience_s, context.ask_publisher)
                    )
                    at_slave.arrive(PointWait(pair, point.position, patience_s, nearing=True))
                held.append(Direction(winner, pair, mapper, name, self._began[pair], point))
            yield held
