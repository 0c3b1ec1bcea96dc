"""The slaves that a dump fills: which wait for its run, each under a lease, and which cannot be reached or filled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sluice import shell
from sluice.context import Context
from sluice.drain import offline_slaves
from sluice.errors import SluiceError, TransientError
from sluice.initial_update import column_losses
from sluice.log import event
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.state.replication import Status
from sluice.store import leases, replications, updates
from sluice.store.engine import Store
from sluice.store.leases import Lease

# A slave, and its lease.
Leased = tuple[Pair, Lease]


def acquire_leases(context: Context, source: str, slaves: Sequence[str]) -> tuple[int, list[Leased]]:
    """Acquire the leases of the slaves that wait for this run, which fences out earlier attempts at this dump.

    Returns:
        the number of their update, and the slaves with their leases.
    """
    waiting = _waiting_updates(context.store, [Pair(source, slave) for slave in slaves])
    leased = {pair: leases.acquire(context.store, f"drain {pair}", force=True) for pair in waiting}
    # Another update that begins from here on has a later epoch.
    still = _waiting_updates(context.store, list(waiting))
    for pair in waiting:
        if pair not in still:
            leases.release(context.store, leased.pop(pair))
    if not leased:
        raise SluiceError(
            172,
            f"none of {', '.join(slaves)} waits for initial data",
            f"trigger the whole DAG, not the task alone: {shell.update(source, slaves)}",
        )
    return next(iter(still.values())), list(leased.items())


def split_reachable(
    context: Context, leased: Sequence[Leased], update: int, asked: Mapping[str, object], *, may_store: bool
) -> tuple[list[Leased], list[Leased]]:
    """The slaves that can be reached, and those whose data is to wait for them; the update of all others does.

    Args:
        asked: see `sluice.store.updates.put_off`.
    """
    absent = offline_slaves.absent(context, [pair for pair, _ in leased])
    put_off = [pair for pair in absent if not may_store or context.config.slave(pair.slave).when_unreachable == "wait"]
    for pair in put_off:
        try:
            updates.put_off(context.store, pair, update, asked)
        except TransientError:
            raise
        except SluiceError as error:
            # It was cancelled while it was asked: the others go on.
            event("left alone", slave=pair.slave, why=error.fact)
    return (
        [lease for lease in leased if lease[0] not in absent],
        [lease for lease in leased if lease[0] in absent and lease[0] not in put_off],
    )


def restart(context: Context, pairs: Sequence[Pair], position: Position, update: int) -> list[Pair]:
    """Let the log be kept from a position on for slaves whose update goes on; which these are.

    Raises:
        SluiceError: SLC-021, it was given up for all of them.
    """
    going_on = [pair for pair in pairs if _restart(context, pair, position, update)]
    if not going_on:
        names = ", ".join(pair.slave for pair in pairs)
        raise SluiceError(21, f"the update of {names} was given up meanwhile", f"see `{shell.status()}`")
    return going_on


def _restart(context: Context, pair: Pair, position: Position, update: int) -> bool:
    store, mapper = context.store, context.config.slave(pair.slave).mapper
    only = {name: mapper.table(name) for name in updates.tables(store, update)} or None
    # What is outside of key ranges stays as it is, and so does what was rejected of it.
    whole = {} if updates.keys(store, update) else only
    try:
        replications.restart_at(store, pair, position, update, whole)
    except SluiceError as error:
        event("left alone", slave=pair.slave, why=error.fact)
        return False
    return True


def find_unfit(context: Context, leased: Sequence[Leased]) -> dict[str, SluiceError]:
    """The slaves that cannot be filled, with the errors, before anything is changed: losses that are not allowed, a
    `wipe_out` of a master, tables that cannot be read, or no tables at all.
    """
    return {pair.slave: error for pair, _ in leased if (error := _unfit(context, pair))}


def _unfit(context: Context, pair: Pair) -> SluiceError | None:
    try:
        context.config.replication(pair.source, pair.slave)
        context.wipe_out(pair)
        context.mapper(pair)
        column_losses.look(context, pair)
    except SluiceError as error:
        return error
    return None


def _waiting_updates(store: Store, pairs: Sequence[Pair]) -> dict[Pair, int]:
    """The slaves with an update of this run, and its number."""
    known = [replications.get(store, pair) for pair in pairs]
    ours = (state for state in known if state.status is Status.INITIAL and updates.is_ours(store, state))
    return {state.pair: state.update_id or 0 for state in ours}
