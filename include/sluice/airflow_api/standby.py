"""Whether a person keeps a slave's drain paused. One pause bit does not tell that from the pause after an error."""

from __future__ import annotations

from sluice.airflow_api.pause import PauseSwitch
from sluice.model.names import Pair
from sluice.state.dispatcher import Hold
from sluice.store import replications
from sluice.store.engine import Store


def paused_by(store: Store, pair: Pair, switch: PauseSwitch) -> str | None:
    """Who paused the drain; "somebody" if unknown; None if it is not paused, or a terminal error paused it."""
    if switch.is_unpaused():
        return None
    holds = replications.holds(store, pair)
    if note := holds.get(Hold.ADMIN):
        return note.actor
    paused = switch.find_pause()
    return (paused.actor or "somebody") if paused and Hold.EXCEPTION not in holds else None
