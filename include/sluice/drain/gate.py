"""The gate of one slave: open only if its DAG is unpaused, its status allows delivery, and no hold is set."""

from __future__ import annotations

from sluice.airflow_api.pause import PauseSwitch
from sluice.model.names import Pair
from sluice.state.dispatcher import Hold
from sluice.state.replication import DELIVERING
from sluice.store import replications
from sluice.store.engine import Store


class Gate:
    """The gate of one slave, as a run of its drain sees it."""

    def __init__(self, store: Store, pair: Pair, switch: PauseSwitch) -> None:
        self._store = store
        self._pair = pair
        self._switch = switch

    def begin(self) -> str:
        """Check the gate at the start of a run. Return why it is shut, or "" if it is open.

        A run that starts shows that its DAG is not paused: this lifts the hold ADMIN, and the hold EXCEPTION, whose DAG
        was paused with it and has been unpaused since.
        """
        by_pause = replications.holds(self._store, self._pair).keys() & {Hold.ADMIN, Hold.EXCEPTION}
        if self._switch.is_unpaused() and by_pause:
            who = self._switch.unpaused_by() or None
            for kind in sorted(by_pause):
                replications.lift(self._store, self._pair, kind, "the drain DAG was unpaused", who)
        return self.why_shut()

    def why_shut(self) -> str:
        """Why the gate is shut, or "" if it is open."""
        if not (paused := self._switch.find_pause()):
            return why_held(self._store, self._pair)
        holds = replications.holds(self._store, self._pair)
        if Hold.ADMIN not in holds and Hold.EXCEPTION not in holds:
            who = paused.actor or "somebody"
            replications.shut(self._store, self._pair, Hold.ADMIN, "the drain DAG was paused", who)
        return f"the drain DAG is paused{f' by {paused.actor}' if paused.actor else ''}"


def why_held(store: Store, pair: Pair) -> str:
    """Why the control store holds a gate, or "" if it does not.

    Steps cannot ask Airflow. The drain's process records a pause in the store as soon as it sees it.
    """
    for note in replications.holds(store, pair).values():
        return f"{note.kind}: {note.reason}"
    status = replications.get(store, pair).status
    return "" if status in DELIVERING else f"the replication is {status}"
