"""Remove: a replication is taken out of the control store and of its slave (guide: "The Details Page")."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from enum import StrEnum
from functools import partial

from sluice import shell
from sluice.context import Context
from sluice.drain import shared_tables
from sluice.errors import SluiceError, UnknownName
from sluice.log import event
from sluice.model.names import Pair, TableName
from sluice.state.replication import UNDER_WAY
from sluice.store import comparisons, leases, removal, replications, watched_tables
from sluice.vendors.registry import vendor


class Extent(StrEnum):
    """The extent of a removal. STORE: out of the control store alone, where the slave is gone, or no longer configured.
    POSITION: also its position out of the slave. TABLES: the slave's tables, too, which the last comparison of
    all rows found equal to their master's.
    """

    STORE = "store"
    POSITION = "position"
    TABLES = "tables"


# What the audit trail says of a replication whose slave was not touched.
LEFT_ALONE = "the slave was left as it is"
_DETAILS = {
    Extent.STORE: LEFT_ALONE,
    Extent.POSITION: "its tables on the slave stay",
    Extent.TABLES: "its tables on the slave were dropped, which a comparison of all rows had found equal",
}


def remove_replication(
    context: Context, pair: Pair, extent: Extent = Extent.POSITION, who: str | None = None
) -> list[str]:
    """Forget a replication; one that is still configured is UNCONFIGURED then, and can be filled again.

    Args:
        who: if not this run, or the person at the shell.

    Returns:
        what was removed from the slave.

    Raises:
        SluiceError: SLC-387, it cannot be now; its tables have to go with it. Nothing was changed.
        TransientError: SLC-051, a drain began meanwhile; or the slave does not answer.
    """
    configured = expect_removable(context, pair, extent)
    with leases.hold_lease(context.store, f"drain {pair}") as lease:
        if extent is Extent.STORE or not configured:
            removal.forget(context.store, pair, _DETAILS[Extent.STORE], who)
            event("removed", source=pair.source, slave=pair.slave, extent=Extent.STORE)
            return []
        settings = context.config.slave(pair.slave)
        remove = vendor(settings.vendor).remove
        assert remove is not None
        wanted = _expect_ours_alone(context, pair) if extent is Extent.TABLES else None
        with closing(context.slave(pair)) as slave:
            # A process that still writes there under an earlier lease is fenced out (R6).
            slave.take_over(lease.epoch)
        # The store forgets it before the slave does: what is shown is never more than there is.
        before = partial(removal.forget, context.store, pair, _DETAILS[extent], who)
        info = context.connection(settings.connection)
        gone = remove(info, pair, settings.schema_, lease.epoch, wanted, before)
    event("removed", source=pair.source, slave=pair.slave, extent=extent)
    return gone


def expect_removable(context: Context, pair: Pair, extent: Extent) -> bool:
    """Check that a replication can be removed to this extent; return whether it is still configured.

    Raises:
        ConfigError: SLC-003, it is unknown; SluiceError: SLC-387.
    """
    try:
        context.config.replication(pair.source, pair.slave)
        configured = True
    except UnknownName:
        if not removal.is_known(context.store, pair):
            raise
        configured = False
    status = replications.get(context.store, pair).status
    if status in UNDER_WAY:
        raise _refusal(pair, f"it is {status}", f"end its initial update: {shell.cancel(pair)}")
    if leases.is_held(context.store, f"drain {pair}"):
        raise _refusal(
            pair, "a drain is at work", f"put it on standby: {shell.sluice('pause', pair.source, pair.slave)}"
        )
    if configured and (error := unfit(context, pair, extent)):
        raise error
    if configured and extent is Extent.TABLES:
        _expect_ours_alone(context, pair)
    return configured


def unfit(context: Context, pair: Pair, extent: Extent) -> SluiceError | None:
    """The error of a slave of a kind that cannot be removed to this extent; None if it can."""
    if extent is Extent.STORE:
        return None
    kind = vendor(context.config.slave(pair.slave).vendor)
    if kind.remove is None:
        alone = shell.sluice("remove", pair.source, pair.slave, "--store-only")
        return _refusal(pair, "what such a slave keeps can only be dropped by hand", f"type: {alone}")
    if extent is Extent.POSITION and kind.is_one_piece:
        anew = shell.sluice("remove", pair.source, pair.slave)
        return SluiceError(
            387,
            f"the rows that {pair} keeps are valid as their versions list them, which hold its position",
            f"nothing was changed; type `{anew} --tables` to remove both, or `--store-only` to leave both",
        )
    return None


def _expect_ours_alone(context: Context, pair: Pair) -> Sequence[TableName]:
    """The slave's tables that are this replication's: the last comparison of all rows found each equal to its master's.

    A name does not show that. The slave may have had a table of its own before its master got one of that name, and a
    table that is merged into may have rows of its own.

    Raises:
        SluiceError: SLC-387, something else needs one.
    """
    here = context.database_id(context.config.slave(pair.slave).connection)
    sources = context.config.sources.items()
    if masters := [name for name, source in sources if context.database_id(source.connection) == here]:
        raise _refusal(pair, f"its database, or its server, is that of source {masters[0]}", "let its tables stay")
    mapper = context.mapper(pair)
    known = {TableName(*name) for name in context.config.source(pair.source).watched_tables}
    known |= watched_tables.known_tables(context.store, pair.source)
    equal = comparisons.equal_tables(context.store, pair)
    filled = [name for name in known if context.gives(pair, name)]
    # The configuration may lead elsewhere by now.
    ours = sorted({mapper.table(name) for name in filled if equal.get(str(name)) == mapper.table(name)})
    for name in ours:
        if others := shared_tables.others(context, pair, name):
            raise _refusal(pair, f"{name} has rows of {others[0]}", "let its tables stay")
    return ours


def _refusal(pair: Pair, why: str, first: str) -> SluiceError:
    return SluiceError(387, f"{pair} cannot be removed: {why}", f"nothing was changed; to remove it, {first}")
