"""Pauses by Airflow's own switch, recorded in the audit trail: a DAG that is paused has no run that could."""

from __future__ import annotations

from sluice.airflow_api.pause import PauseSwitch, paused_dags
from sluice.context import Context
from sluice.model.names import Pair
from sluice.state.dispatcher import Hold
from sluice.state.replication import Status
from sluice.store import replications


class Pauses:
    """The pause switches of a source's publisher and of its drains, as the publisher sees them.

    A hold in the store keeps what was seen; the publisher's has no slave. The hold of a drain that was unpaused
    is lifted by its next run.
    """

    def __init__(self, context: Context, source: str) -> None:
        self._context = context
        self._source = source
        self._api = context.airflow_api()
        self._switches: dict[Pair, PauseSwitch] = {}

    def record(self) -> None:
        """Record what was switched since. Raises OSError, KeyError or ValueError without an answer of Airflow."""
        if self._api is None:
            return
        store, config, publisher = self._context.store, self._context.config, Pair(self._source, "")
        pairs = [Pair(self._source, slave) for slave in config.slaves_of(self._source)]
        # Who uses a command of ours writes the hold before Airflow's switch, and lifts it after that.
        drains = {
            pair: replications.holds(store, pair)
            for pair in pairs
            if replications.get(store, pair).status is not Status.UNCONFIGURED
        }
        published = replications.holds(store, publisher)
        paused = paused_dags(self._api)
        for pair, held in drains.items():
            drain = config.dag_id("drain", pair.source, pair.slave)
            if drain in paused and not held.keys() & {Hold.ADMIN, Hold.EXCEPTION}:
                self._shut(pair, self._switch(pair), "the drain DAG was paused")
        if config.dag_id("publish", self._source) not in paused:
            if Hold.ADMIN in published:
                who = self._switch(publisher).unpaused_by() or "somebody"
                replications.lift(store, publisher, Hold.ADMIN, "the publish DAG was unpaused", who)
        elif Hold.ADMIN not in published:
            self._shut(publisher, self._switch(publisher), "the publish DAG was paused")

    def _shut(self, pair: Pair, switch: PauseSwitch, reason: str) -> None:
        if paused := switch.find_pause():
            replications.shut(self._context.store, pair, Hold.ADMIN, reason, paused.actor or "somebody")

    def _switch(self, pair: Pair) -> PauseSwitch:
        # Each logs in to Airflow once.
        if pair not in self._switches:
            made = self._context.switch(pair) if pair.slave else self._context.publish_switch(self._source)
            self._switches[pair] = made
        return self._switches[pair]
