"""Drain runs that are asked for as soon as a slave lacks something: an idle slave has none. And pauses that were seen.

The publisher looks, since it is up all the time. Without it, or without Airflow's REST API, a drain starts by its
schedule.
"""

from __future__ import annotations

import time
import urllib.error
from contextlib import suppress
from dataclasses import dataclass, replace

from sqlalchemy import Connection, func, literal, select

from sluice.airflow_api.pause import PauseSwitch
from sluice.context import Context
from sluice.model.names import Pair, drain_dag
from sluice.publish.pauses import Pauses
from sluice.state.ddl_question import QuestionState
from sluice.state.dispatcher import Hold
from sluice.state.initial_update import UpdateState
from sluice.state.replication import Status
from sluice.store.engine import Store
from sluice.store.tables import hold, initial_update, lease, question, replication, segment

_LOOK_S = 1.0
# A slave that does not answer gets another run after this time, then after twice as long, and so on.
_FIRST_S, _LONGEST_S = 15.0, 300.0
# How often to look whether a paused drain was unpaused, and whether somebody paused a DAG.
_PAUSED_S = 5.0
_RECORD_S = 60.0
# For how long an Airflow that does not answer is left alone: waiting for it takes time that publishing needs.
_SILENT_S = 60.0
_OPEN = (Status.NORMAL, Status.TRANSITION)
# The DAG is paused for these. If it was unpaused, a run is wanted, which opens the gate.
_BY_PAUSE = (Hold.ADMIN, Hold.EXCEPTION)


class DrainRuns:
    """Asks Airflow for drain runs of one source's slaves."""

    def __init__(self, context: Context, source: str) -> None:
        self._context = context
        self._source = source
        self._runs = context.runs()
        ours = (replication for replication in context.config.replications if replication.source == source)
        # Runs of others come by their configured schedule.
        self._lingering = {
            Pair(replication.source, replication.slave) for replication in ours if replication.schedule.run_for_s > 0
        }
        self._look_at = self._record_at = float("-inf")
        self._silent = False
        self._pauses = Pauses(context, source)
        self._asked: dict[Pair, _RunRequests] = {}
        self._switches: dict[Pair, PauseSwitch] = {}

    def ask(self, *, at_once: bool = False) -> None:
        """Ask for a run of each slave that lacks something and has none at work; once a second, unless `at_once`."""
        if time.monotonic() < self._look_at and (self._silent or not at_once):
            return
        self._silent = False
        self._look_at = time.monotonic() + _LOOK_S
        if at_once or time.monotonic() >= self._record_at:
            self._record_at = time.monotonic() + _RECORD_S
            try:
                # Not every login may list DAGs.
                with suppress(urllib.error.HTTPError, KeyError, ValueError):
                    self._pauses.record()
            except OSError:
                self._be_silent()
                return
        for pair, lack in find_holdbacks(self._context.store, self._source).items():
            asked = self._asked.get(pair)
            if asked is None or asked.position != lack.position:
                # It moved: the runs that were asked for did their work.
                asked = _RunRequests(lack.position)
            if pair not in self._lingering or time.monotonic() < asked.again_at:
                continue
            switch = self._switch(pair)
            paused = switch.find_pause()
            if not switch.answers:
                self._be_silent()
                return
            # A run of a paused DAG would wait in its queue, and hide how the last one ended.
            if paused:
                self._asked[pair] = replace(asked, again_at=time.monotonic() + _PAUSED_S)
                continue
            self._runs.ask_for(drain_dag(pair), f"published__{lack.end}__{int(time.time())}", {})
            again_at = time.monotonic() + min(_LONGEST_S, _FIRST_S * 2**asked.number)
            self._asked[pair] = _RunRequests(lack.position, asked.number + 1, again_at)

    def _be_silent(self) -> None:
        self._silent = True
        self._look_at = time.monotonic() + _SILENT_S

    def _switch(self, pair: Pair) -> PauseSwitch:
        # Each logs in to Airflow once.
        if pair not in self._switches:
            self._switches[pair] = self._context.switch(pair)
        return self._switches[pair]


@dataclass(frozen=True)
class _RunRequests:
    """The number of requests for a run while the slave was at this position, and the time of the next one."""

    position: int
    number: int = 0
    again_at: float = float("-inf")


@dataclass(frozen=True)
class Holdback:
    """The holdback of a slave: the ordinals from its position to the end of the log."""

    position: int
    end: int


def find_holdbacks(store: Store, source: str) -> dict[Pair, Holdback]:
    """Find the slaves of a source that need a drain run, while none is at work: they lack changes, or their update
    waits until they answer.
    """
    with store.begin() as connection:
        end = _end(connection, source)
        pair = (replication.c.source, replication.c.slave)
        name = literal("drain ") + replication.c.source + literal("->") + replication.c.slave
        at_work = select(lease.c.name).where(lease.c.name == name, lease.c.expires_at > func.clock_timestamp())
        held = select(hold.c.kind).where(
            hold.c.source == pair[0], hold.c.slave == pair[1], hold.c.kind.not_in(_BY_PAUSE)
        )
        asked = select(question.c.key).where(
            question.c.source == pair[0], question.c.slave == pair[1], question.c.state == QuestionState.WAITING
        )
        put_off = select(initial_update.c.id).where(
            initial_update.c.id == replication.c.update_id, initial_update.c.state == UpdateState.PUT_OFF
        )
        behind = replication.c.status.in_(_OPEN) & (replication.c.ordinal < end) & ~held.exists() & ~asked.exists()
        absent = (replication.c.status == Status.INITIAL) & put_off.exists()
        slaves = select(replication.c.slave, replication.c.ordinal)
        slaves = slaves.where(replication.c.source == source, behind | absent, ~at_work.exists())
        return {Pair(source, row.slave): Holdback(row.ordinal, end) for row in connection.execute(slaves)}


def _end(connection: Connection, source: str) -> int:
    last = select(segment.c.last_ordinal).where(segment.c.source == source).order_by(segment.c.number.desc()).limit(1)
    return int(connection.execute(last).scalar() or 0)
