"""Clear Queue: discards what waits for a slave, which is to be filled again then (guide: "The Details Page")."""

from __future__ import annotations

from contextlib import closing

from sluice import shell
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.state.replication import UNDER_WAY, Status
from sluice.store import holdback, leases, replications
from sluice.store.leases import Lease

NOTHING = "no transaction waits for it"


def clear_queue(context: Context, pair: Pair, who: str | None = None) -> int:
    """Discard the transactions that wait for a slave now; it becomes INCONSISTENT, and its drain ends.

    Args:
        who: if not this run, or the person at the shell.

    Returns:
        how many they were.

    Raises:
        ConfigError: SLC-003, there is no such replication.
        SluiceError: SLC-020, nothing waits for it, or an initial update needs it; nothing was changed.
    """
    expect_clearable(context, pair)
    with leases.hold_lease(context.store, f"drain {pair}", force=True) as lease:
        # A drain that was at work is fenced out before, so that what is discarded is known, and stays so.
        begins = _take_position(context, pair, lease)
        end = context.manifest(pair.source).end()
        count = end.ordinal - begins.ordinal
        if count <= 0:
            raise _refusal(pair, NOTHING)
        discarded = "1 transaction was discarded" if count == 1 else f"{count:,} transactions were discarded"
        numbers = str(end.ordinal) if count == 1 else f"{begins.ordinal + 1} to {end.ordinal}"
        detail = f"its queue was cleared: {discarded}, {numbers}"
        holdback.discard(context.store, pair, end, detail, who)
    event("queue cleared", slave=pair.slave, transactions=count)
    return count


def expect_clearable(context: Context, pair: Pair) -> int:
    """Check that transactions wait for a slave and may be discarded; return their number, as far as it is known.

    Raises:
        ConfigError: SLC-003; SluiceError: SLC-020.
    """
    context.config.replication(pair.source, pair.slave)
    status = replications.get(context.store, pair).status
    if status is Status.UNCONFIGURED:
        raise _refusal(pair, "it was never filled, and nothing is kept for it")
    if status in UNDER_WAY:
        cancel = shell.cancel(pair)
        raise _refusal(
            pair, f"it is {status}, and its initial update needs what waits", f"; to end that, type: {cancel}"
        )
    count, _ = replications.read_holdback(context.store, pair)
    if count <= 0:
        raise _refusal(pair, NOTHING)
    return count


def _take_position(context: Context, pair: Pair, lease: Lease) -> Position:
    """The slave's position; if the slave cannot be asked, the store's record: nothing delivers to it then."""
    try:
        with closing(context.slave(pair)) as slave:
            return slave.take_over(lease.epoch)[0]
    except SluiceError as error:
        event("not reached", slave=pair.slave, why=error.fact)
        return replications.get(context.store, pair).position


def _refusal(pair: Pair, why: str, more: str = "") -> SluiceError:
    return SluiceError(
        20,
        f"the queue of {pair} is not cleared: {why}",
        f"nothing was changed; `{shell.status()}` says where it stands{more}",
    )
