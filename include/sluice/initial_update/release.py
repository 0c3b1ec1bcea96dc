"""The last steps: the gate opens for slaves whose data is in; an update that failed is given up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from sluice.context import Context
from sluice.initial_update.files import approval
from sluice.log import event
from sluice.model.names import RECEIVE_INITIAL_FILES, Pair
from sluice.state.dispatcher import Hold
from sluice.state.replication import UNDER_WAY, ReplicationEvent, Status
from sluice.steps import Do, Result, do_here
from sluice.store import replications, transfers, updates


def release(
    context: Context,
    source: str,
    slaves: Sequence[str],
    approved: int = 0,
    who: str = "",
    do: Do | None = None,
) -> dict[str, object]:
    """INITIAL -> TRANSITION for every slave that was dumped; its drain delivers from now on.

    It does not while the data is on its way by hand: then the gate stays shut until that is loaded, and until somebody
    says so, where the configuration wants that.

    An error that it stood on was of the data it held before. The person who paused its drain decides when that goes on.

    Args:
        approved: the update that somebody may have been asked about, and has not refused.
        who: that was, if anybody was asked.
        do: does what databases are asked and told; else it is done here.

    Raises:
        TransientError: SLC-302, Airflow did not unpause the DAG of a drain that had failed.
    """
    paused = {slave: _paused_by(context, Pair(source, slave)) for slave in slaves}
    done = (do or do_here(context))(partial(_open_gates, source=source, paused=paused, approved=approved, who=who))
    for slave in done["failed_before"]:
        _lift_exception(context, Pair(source, slave))
    return {"released": done["released"]}


def _paused_by(context: Context, pair: Pair) -> str | None:
    """The person who keeps a drain paused, if one does."""
    paused = context.switch(pair).find_pause()
    return (paused.actor or "somebody") if paused else None


def _open_gates(context: Context, source: str, paused: Mapping[str, str | None], approved: int, who: str) -> Result:
    """Open the gates of slaves whose data is in. Slaves on an error are named once more.

    Args:
        paused: the people who keep drains paused, by slave.
    """
    released, failed_before = [], []
    for slave, paused_by in paused.items():
        pair = Pair(source, slave)
        known = replications.get(context.store, pair)
        if not updates.may_end(context.store, known, context.config.dag_id(RECEIVE_INITIAL_FILES)):
            # Its data are not what this run has brought.
            continue
        if known.status is Status.INITIAL and not (
            updates.is_ours(context.store, known)
            and replications.try_record(context.store, pair, ReplicationEvent.DUMPED, update_id=known.update_id)
        ):
            continue
        carried = transfers.pending_transfer(context.store, pair)
        if carried and not approval.may_go_on(context, carried, approved):
            event("waiting", slave=slave)
        elif known.status in UNDER_WAY:
            failed = Hold.EXCEPTION in replications.holds(context.store, pair)
            if paused_by and not failed:
                # No drain runs that could have noticed it.
                replications.shut(context.store, pair, Hold.ADMIN, "the drain DAG was paused", paused_by)
            reason = f"the initial data is in, and {who} approved" if who else "the initial data is in"
            if not replications.open_gate(context.store, pair, known.update_id, reason):
                event("left alone", slave=slave, update=known.update_id, why="another update took its place")
                continue
            if carried:
                transfers.end(context.store, pair, carried.update)
            released.append(slave)
            if failed:
                failed_before.append(slave)
            event("released", slave=slave)
    return {"released": released, "failed_before": failed_before}


def _lift_exception(context: Context, pair: Pair) -> None:
    """Lift a standby by EXCEPTION together with the pause that came with it. Until then no drain runs."""
    if Hold.ADMIN not in replications.holds(context.store, pair):
        context.switch(pair).unpause()
    replications.lift(context.store, pair, Hold.EXCEPTION, "the initial data replaced what it failed on")


def abandon(context: Context, source: str, slaves: Sequence[str], why: str = "") -> dict[str, object]:
    """Give up what this DAG run began and did not end: INCONSISTENT. An update of another run is left alone, and data
    that is carried by hand, which nothing has happened to.

    Args:
        why: code and fact of the error that ended a step of the update, if it is known.
    """
    abandoned = []
    for slave in slaves:
        pair = Pair(source, slave)
        known = replications.get(context.store, pair)
        ours = known.status in UNDER_WAY and updates.is_ours(context.store, known)
        if not ours or (known.status is Status.TRANSITION and transfers.pending_transfer(context.store, pair)):
            continue
        why = why.strip() or "a step of the update failed, see its log"
        if replications.try_record(context.store, pair, ReplicationEvent.FAIL, why, update_id=known.update_id):
            abandoned.append(slave)
            event("abandoned", slave=slave)
    return {"abandoned": abandoned}
