"""Drain runs that are asked for as soon as a slave lacks something: an idle slave has none.

The publisher looks, since it is up all the time. Without it, or without Airflow's REST API, a drain starts by its
schedule.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlalchemy import Connection, func, literal, select

from sluice.context import Context
from sluice.control.pause import PauseSwitch
from sluice.control.store import Store
from sluice.control.tables import hold, initial_update, lease, question, replication, segment
from sluice.control.updates import PUT_OFF
from sluice.model.names import Pair, drain_dag
from sluice.state.dispatcher import Hold
from sluice.state.question import Question
from sluice.state.replication import Status

_LOOK_S = 1.0
# A slave that does not answer gets another run after this time, then after twice as long, and so on.
_FIRST_S, _LONGEST_S = 15.0, 300.0
# How often to look whether a paused drain was unpaused.
_PAUSED_S = 5.0
_OPEN = (Status.NORMAL, Status.TRANSITION)
# The DAG is paused for these. If somebody unpaused it, a run is wanted, which opens the gate.
_BY_PAUSE = (Hold.ADMIN, Hold.EXCEPTION)


class DrainRuns:
    """Asks Airflow for drain runs of one source's slaves."""

    def __init__(self, context: Context, source: str) -> None:
        self._context = context
        self._source = source
        self._runs = context.runs()
        ours = (one for one in context.config.replications if one.source == source)
        # Runs of others come by schedule, as somebody wants it.
        self._lingering = {Pair(one.source, one.slave) for one in ours if one.schedule.linger_s > 0}
        self._looked = float("-inf")
        self._asked: dict[Pair, _Asked] = {}
        self._switches: dict[Pair, PauseSwitch] = {}

    def ask(self) -> None:
        """Ask for a run of each slave that lacks something and has none at work; at most once a second."""
        if time.monotonic() - self._looked < _LOOK_S:
            return
        self._looked = time.monotonic()
        found = wanted(self._context.store, self._source)
        waiting = {pair: ordinal for pair, ordinal in found.items() if pair in self._lingering}
        self._asked = {pair: asked for pair, asked in self._asked.items() if pair in waiting}
        for pair, ordinal in waiting.items():
            asked = self._asked.get(pair)
            if asked and time.monotonic() < asked.again_at:
                continue
            number = asked.number if asked else 0
            # A run of a paused DAG would wait in its queue, and hide how the last one ended.
            if self._switch(pair).paused():
                self._asked[pair] = _Asked(number, time.monotonic() + _PAUSED_S)
                continue
            if self._switch(pair).unpaused():
                self._runs.ask_for(drain_dag(pair), f"published__{ordinal}__{int(time.time())}", {})
            # So it is if Airflow does not answer: looking may take seconds then.
            self._asked[pair] = _Asked(number + 1, time.monotonic() + min(_LONGEST_S, _FIRST_S * 2**number))

    def _switch(self, pair: Pair) -> PauseSwitch:
        # Each logs in to Airflow once.
        if pair not in self._switches:
            self._switches[pair] = self._context.switch(pair)
        return self._switches[pair]


@dataclass(frozen=True)
class _Asked:
    """How many times in a row a run was asked for, and when to ask again."""

    number: int
    again_at: float


def wanted(store: Store, source: str) -> dict[Pair, int]:
    """The slaves of a source that a drain run has something to do for, while none is at work: changes, or an update
    that waits until the slave answers. Each with the last ordinal of the log."""
    with store.begin() as connection:
        end = _end(connection, source)
        pair = (replication.c.source, replication.c.slave)
        name = literal("drain ") + replication.c.source + literal("->") + replication.c.slave
        at_work = select(lease.c.name).where(lease.c.name == name, lease.c.expires_at > func.clock_timestamp())
        held = select(hold.c.kind).where(
            hold.c.source == pair[0], hold.c.slave == pair[1], hold.c.kind.not_in(_BY_PAUSE)
        )
        asked = select(question.c.key).where(
            question.c.source == pair[0], question.c.slave == pair[1], question.c.state == Question.WAITING
        )
        put_off = select(initial_update.c.id).where(
            initial_update.c.id == replication.c.update_id, initial_update.c.state == PUT_OFF
        )
        behind = replication.c.status.in_(_OPEN) & (replication.c.ordinal < end) & ~held.exists() & ~asked.exists()
        absent = (replication.c.status == Status.INITIAL) & put_off.exists()
        slaves = select(replication.c.slave).where(replication.c.source == source, behind | absent, ~at_work.exists())
        return {Pair(source, slave): end for slave in connection.execute(slaves).scalars()}


def _end(connection: Connection, source: str) -> int:
    last = select(func.coalesce(func.max(segment.c.last_ordinal), 0)).where(segment.c.source == source)
    return int(connection.execute(last).scalar_one())
