"""The outbox: asks Airflow for the runs that are pending, and again by the next drain where it does not answer."""

from __future__ import annotations

from sluice.airflow_api.runs import Runs
from sluice.model.names import Pair
from sluice.store import pending_runs
from sluice.store.engine import Store


def send(store: Store, runs: Runs, pair: Pair) -> set[str]:
    """Ask for the pending runs of a replication. Return the ids of the ones that Airflow has now."""
    done = set()
    for wanted in pending_runs.unsent_runs(store, pair):
        if runs.ask_for(wanted.dag, wanted.run, wanted.conf):
            pending_runs.mark_sent(store, pair, wanted)
            done.add(wanted.run)
    return done
