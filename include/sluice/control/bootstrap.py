"""Installing what Sluice needs on a source and in its own store; and accepting a source that is no longer the same."""

from __future__ import annotations

from sluice.context import Context
from sluice.control import leases, replications
from sluice.model.names import Pair
from sluice.state.replication import Event, Status
from sluice.vendors.protocol import Installed


def bootstrap(
    context: Context, source: str, *, recreate_triggers: bool = False, rebase: bool = False
) -> dict[str, object]:
    """Install or reconcile the DbResources and the registry; create the replications in the store.

    Args:
        recreate_triggers: make every trigger again, also those that are as they should be.
        rebase: accept the source as it is now, after a restore or a failover; its slaves become INCONSISTENT.
    """
    context.store.migrate()
    installed = reconcile(context, source, recreate=recreate_triggers)
    if rebase:
        _rebase(context, source)
    return {
        "source": source,
        "added": [str(name) for name in installed.added],
        "removed": [str(name) for name in installed.removed],
    }


def reconcile(context: Context, source: str, *, recreate: bool = False) -> Installed:
    """Install or reconcile the DbResources.

    If columns of a watched table changed unseen (SLC-043), what is queued of it cannot be read any more and is
    forgotten; slaves that lived on it become INCONSISTENT first. Those that are about to be loaded get it all anyway.
    """
    database = context.source(source)
    try:
        unreadable = database.unreadable()
        if unreadable:
            names = ", ".join(map(str, unreadable))
            _break(context, source, f"the columns of {names} changed unseen", {Status.NORMAL, Status.TRANSITION})
        return database.install(context.watched(source), recreate=recreate, unreadable=unreadable)
    finally:
        database.close()


def _break(context: Context, source: str, why: str, among: set[Status]) -> None:
    for slave in context.config.slaves_of(source):
        pair = Pair(source, slave)
        if replications.get(context.store, pair).status in among:
            replications.happen(context.store, pair, Event.BREAK, why)


def _rebase(context: Context, source: str) -> None:
    among = {Status.INITIAL, Status.TRANSITION, Status.NORMAL}
    _break(context, source, "the source was restored or failed over", among)
    held = leases.acquire(context.store, f"publish {source}", force=True)
    database = context.source(source)
    try:
        database.take_over(held.epoch)
        manifest = context.manifest(source)
        tail = manifest.tail()
        number, sha256 = (tail.number, tail.written.sha256) if tail else (0, "")
        manifest.rebase(database.accept(held.epoch, number, sha256))
        # No slave goes on from here, so nobody needs what is left of the old log, or what is missing of it.
        if kept := manifest.kept():
            manifest.mark_trimmed(kept)
            for segment in kept:
                context.files().remove(segment.written.name)
    finally:
        database.close()
        leases.release(context.store, held)
