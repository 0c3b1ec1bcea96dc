"""The last steps: the gate opens for slaves whose data is in; an update that failed is given up."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.context import Context
from sluice.control import replications
from sluice.initial_update.inhibit import run_of
from sluice.log import event
from sluice.model.names import Pair
from sluice.state.dispatcher import Hold
from sluice.state.replication import Event, Status


def release(context: Context, source: str, slaves: Sequence[str]) -> dict[str, object]:
    """INITIAL -> TRANSITION for every slave that was loaded; its drain delivers from now on."""
    released = []
    for slave in slaves:
        pair = Pair(source, slave)
        known = replications.get(context.store, pair)
        if known.status is Status.INITIAL:
            replications.happen(context.store, pair, Event.DUMPED, update_id=known.update_id)
        if known.status in {Status.INITIAL, Status.TRANSITION}:
            replications.lift(context.store, pair, Hold.INITIAL, "the initial data is in")
            released.append(slave)
            event("released", slave=slave)
    return {"released": released}


def abandon(context: Context, source: str, slaves: Sequence[str]) -> dict[str, object]:
    """Give up what this DAG run began and did not end: INCONSISTENT. An update of another run is left alone."""
    abandoned = []
    for slave in slaves:
        pair = Pair(source, slave)
        known = replications.get(context.store, pair)
        if known.status in {Status.INITIAL, Status.TRANSITION} and run_of(context.store, known.update_id):
            replications.happen(context.store, pair, Event.FAIL, "a step of the initial update failed")
            replications.lift(context.store, pair, Hold.INITIAL, "the update was given up")
            abandoned.append(slave)
            event("abandoned", slave=slave)
    return {"abandoned": abandoned}
