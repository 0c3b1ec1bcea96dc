"""Installing what Sluice needs on a source and in its own store; and accepting a source that is no longer the same."""

from __future__ import annotations

from sluice.context import Context
from sluice.control import leases, replications
from sluice.model.names import Pair
from sluice.state.replication import Event, Status


def bootstrap(
    context: Context, source: str, *, recreate_triggers: bool = False, rebase: bool = False
) -> dict[str, object]:
    """Install or reconcile the DbResources and the registry; create the replications in the store.

    Args:
        recreate_triggers: make every trigger again, also those that are as they should be.
        rebase: accept the source as it is now, after a restore or a failover; its slaves become INCONSISTENT.
    """
    context.store.migrate()
    database = context.source(source)
    installed = database.install(context.watched(source), recreate=recreate_triggers)
    if rebase:
        _rebase(context, source)
    return {
        "source": source,
        "added": [str(name) for name in installed.added],
        "removed": [str(name) for name in installed.removed],
    }


def _rebase(context: Context, source: str) -> None:
    for slave in context.config.slaves_of(source):
        pair = Pair(source, slave)
        if replications.get(context.store, pair).status not in {Status.UNCONFIGURED, Status.INCONSISTENT}:
            replications.happen(context.store, pair, Event.BREAK, "the source was restored or failed over")
    held = leases.acquire(context.store, f"publish {source}", force=True)
    database = context.source(source)
    try:
        database.take_over(held.epoch)
        tail = context.manifest(source).tail()
        number, sha256 = (tail.number, tail.written.sha256) if tail else (0, "")
        incarnation = database.accept(held.epoch, number, sha256)
        context.manifest(source).rebase(incarnation)
    finally:
        database.close()
        leases.release(context.store, held)
