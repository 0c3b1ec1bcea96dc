"""Trimming the change log: only what every slave has made durable, and only after its time (R3)."""

from __future__ import annotations

from datetime import timedelta

from sluice.changelog import initial_data
from sluice.context import Context
from sluice.log import event
from sluice.model.names import Pair
from sluice.state.replication import Status
from sluice.store import kept_versions, publishers, relay_clients, replications, updates
from sluice.store.replications import ReplicationState

_RECEIVING = {Status.NORMAL, Status.TRANSITION, Status.INITIAL}


def trim(context: Context, source: str, *, keep: timedelta, warn_bytes: int) -> int:
    """Remove old segments; warn if the log is large all the same. Returns how many went.

    A slave that is INCONSISTENT or was never set up needs an initial update anyway, and holds nothing back; nor does
    one whose update is to begin when it can be reached, unless some of its rows are to stay. A client of the relay
    does for its time, if a relay is configured: whether one runs does not matter.
    """
    manifest, files = context.manifest(source), context.files()
    known = [replications.get(context.store, Pair(source, slave)) for slave in context.config.slaves_of(source)]
    following = [state for state in known if state.status in _RECEIVING and not _begins_anew(context, state)]
    needed = [state.position.ordinal for state in following]
    kept_versions.keep_only(context.store, source, context.config.source(source).initial_files.versions)
    needed += kept_versions.needed_ordinals(context.store, source)
    if relay := context.config.relay:
        needed += relay_clients.needed_ordinals(context.store, source, timedelta(hours=relay.forget_hours))
    initial_data.sweep(context.config, context.store)
    old = manifest.trimmable(min(needed, default=manifest.end().ordinal), keep)
    if old:
        manifest.mark_trimmed(old)
        for segment in old:
            files.remove(segment.file.name)
        manifest.fold()
        event("trimmed", source=source, segments=len(old), through=old[-1].last_ordinal)
    size = manifest.bytes()
    publishers.weigh(context.store, source, size)
    if size > warn_bytes:
        event(
            "WARNING change log is large",
            source=source,
            bytes=size,
            limit=warn_bytes,
            needed_from=min(needed, default=0),
        )
    return len(old)


def _begins_anew(context: Context, known: ReplicationState) -> bool:
    return updates.is_put_off(context.store, known) and not updates.tables(context.store, known.update_id)
