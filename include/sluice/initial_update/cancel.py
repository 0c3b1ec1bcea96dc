"""Cancels a running update: first its state, then the sessions of its jobs.

A task that hears of nothing is fenced out of the slave, and finds that its update is not the current one, or over,
whatever it wants to write into the store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from sluice import shell
from sluice.context import Context
from sluice.initial_update.fence import fence_out
from sluice.log import event
from sluice.model.names import Pair
from sluice.state.replication import UNDER_WAY
from sluice.store import leases, replications, updates
from sluice.store.leases import Lease


@dataclass
class Cancelled:
    """The results of a cancellation, by slave.

    Attributes:
        cancelled: slaves whose updates ended by it; `next` fills them all the same.
        idle: slaves that no update is under way for, and their statuses.
        ended: runs that were at work, as `dag/run`.
        not_ended: runs that Airflow did not end, and why. Their work ends by itself.
    """

    cancelled: list[str] = field(default_factory=list)
    idle: dict[str, str] = field(default_factory=dict)
    ended: list[str] = field(default_factory=list)
    not_ended: dict[str, str] = field(default_factory=dict)
    next: str = ""


def cancel(
    context: Context, source: str, slaves: Sequence[str], who: str | None = None, why: str = "cancelled"
) -> Cancelled:
    """Cancel the updates of these slaves, which become INCONSISTENT. Other slaves of the same update go on.

    Args:
        who: wants it.

    Raises:
        ConfigError: SLC-003, a slave is not one of this source's; nothing was changed.
    """
    pairs = [Pair(source, slave) for slave in dict.fromkeys(slaves)]
    for pair in pairs:
        context.config.replication(source, pair.slave)
    done = Cancelled()
    ended = end_updates(context, pairs, why, who)
    end_runs(context, ended, done)
    for pair in pairs:
        if pair not in ended:
            done.idle[pair.slave] = str(replications.get(context.store, pair).status)
            event("nothing to cancel", slave=pair.slave, status=done.idle[pair.slave])
    done.cancelled = [pair.slave for pair in ended]
    done.next = shell.update(source, done.cancelled) if ended else ""
    return done


def end_updates(context: Context, pairs: Sequence[Pair], why: str, who: str | None = None) -> dict[Pair, int]:
    """End the updates of these slaves in the store, and fence their jobs out; the numbers of the ended ones."""
    store = context.store
    with ExitStack() as stack:
        held: dict[Pair, tuple[int, Lease]] = {}
        for pair in pairs:
            known = replications.get(store, pair)
            if known.status in UNDER_WAY:
                # Before the state: another update that begins from here on has a later epoch, and is not fenced out.
                lease = stack.enter_context(leases.hold_lease(store, f"drain {pair}", force=True))
                if updates.cancel(store, known, why, who):
                    held[pair] = known.update_id or 0, lease
        for pair, (number, lease) in held.items():
            fence_out(context, pair, lease)
            event("cancelled", slave=pair.slave, update=number)
    return {pair: number for pair, (number, _) in held.items()}


def end_runs(context: Context, ended: Mapping[Pair, int], done: Cancelled) -> None:
    """End the runs that are at work on updates that were ended."""
    for pair, number in ended.items():
        _end(context, pair, number, done)


def _end(context: Context, pair: Pair, number: int, done: Cancelled) -> None:
    """End the runs that are at work for this slave alone."""
    runs, begun_by = context.runs(), updates.run_of(context.store, number)
    if not begun_by:
        # It waited for its slave to answer.
        return
    alone = not updates.is_under_way(context.store, number)
    active = runs.at_work(pair, begun_by)
    if active is None:
        done.not_ended[begun_by] = "Airflow does not tell whether it is at work"
    for run in active or []:
        if run == updates.own_run() or run in done.ended or (run == begun_by and not alone):
            continue
        if why := runs.end(run):
            done.not_ended[run] = why
        else:
            done.ended.append(run)
