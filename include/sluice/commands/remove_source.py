"""Removing a source with all that it has: its replications, what is installed on it, its change log, its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from sluice import shell
from sluice.capture.uninstall import cleanup
from sluice.changelog import initial_data
from sluice.commands.remove_replication import LEFT_ALONE, Extent, expect_removable, remove_replication, unfit
from sluice.context import Context
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.files.journal import interrupted_dumps
from sluice.initial_update.files.target import outgoing_packing
from sluice.log import event
from sluice.model.names import Pair
from sluice.paths import at_home
from sluice.storage.directory import Directory
from sluice.store import leases, removal
from sluice.store.tables import transfer


@dataclass(frozen=True)
class Doomed:
    """All that goes with a source: replications, segments with their bytes, directories of initial data."""

    replications: Sequence[Pair]
    segments: int
    bytes: int
    directories: Sequence[Directory]


def expect_source_removable(context: Context, source: str, extent: Extent) -> Doomed:
    """Check that a source can be removed, and find what goes with it. Nothing is paused or ended.

    Raises:
        SluiceError: SLC-387, one of its replications cannot be removed now; it is being published.
    """
    context.config.source(source)
    pairs = _pairs(context, source, extent)
    publisher = f"publish {source}"
    paused = context.publish_switch(source)
    if leases.is_held(context.store, publisher) or (context.airflow_api() and paused.is_unpaused()):
        raise SluiceError(
            387,
            f"source {source} cannot be removed: it is being published, or may be at any time",
            f"nothing was changed; type: {shell.sluice('pause', source, '--publish')}, and wait for the run's end",
        )
    for pair in pairs:
        expect_removable(context, pair, extent)
    manifest = context.manifest(source)
    return Doomed(pairs, len(manifest.kept_segments()), manifest.bytes(), _directories(context, source))


def remove_source(context: Context, source: str, extent: Extent = Extent.POSITION) -> Iterator[str]:
    """Remove a source, a part after the other; each is done again after a crash, and left out where it is done.

    Args:
        extent: what its slaves lose. STORE: nothing is removed from the databases, which may be gone.

    Yields:
        what was removed.

    Raises:
        SluiceError: see `expect_source_removable` and `cleanup`; nothing was changed.
        SluiceError: SLC-652, a slave does not answer; see `changelog.removal`; what was removed
            before stays removed.
    """
    # Arrow comes along with it.
    from sluice.changelog.removal import remove_segments

    context.store.migrate()
    doomed = expect_source_removable(context, source, extent)
    # The source first: it may refuse, and nothing was changed then.
    if extent is Extent.STORE:
        removal.note_removed(context.store, source)
    else:
        yield from cleanup(context, source)
    # While the store lists them still.
    for directory in doomed.directories:
        directory.remove_all()
        yield f"directory {directory.url}"
    for pair in doomed.replications:
        yield from _remove_replication(context, pair, extent)
        yield f"replication {pair}"
    with leases.hold_lease(context.store, f"publish {source}"):
        gone = remove_segments(context.manifest(source), context.files(), source, may_be_gone=extent is Extent.STORE)
        if gone:
            yield f"{gone:,} {'segment' if gone == 1 else 'segments'} of the change log"
        removal.forget_source(context.store, source)
    # No replication lists its initial data any more.
    initial_data.sweep(context.config, context.store)
    event("removed", source=source, extent=extent)


def _pairs(context: Context, source: str, extent: Extent) -> list[Pair]:
    """Its replications: the ones that the store knows, and ones whose slaves may still have something of them, since a
    removal ended half-way.
    """
    known = removal.list_pairs(context.store, source)
    configured = [Pair(source, slave) for slave in context.config.slaves_of(source)]
    rest = [pair for pair in configured if pair not in known and extent is not Extent.STORE]
    return known + [
        pair
        for pair in rest
        if removal.last(context.store, pair) not in (None, LEFT_ALONE) and not unfit(context, pair, extent)
    ]


def _remove_replication(context: Context, pair: Pair, extent: Extent) -> list[str]:
    try:
        return remove_replication(context, pair, extent)
    except TransientError as error:
        gone = shell.sluice("remove", pair.source, pair.slave, "--store-only")
        raise SluiceError(
            652,
            f"{pair} was not removed: {error.fact}",
            f"{error.hint}; then run this again. If the slave is gone for good, type: {gone}, and run this again",
        ) from None


def _directories(context: Context, source: str) -> list[Directory]:
    """The directories of initial data that the store lists, or that dumps which broke off have left, as far as this
    machine sees them.
    """
    settings = context.config.source(source).initial_files
    own = Directory(at_home(settings.location))
    wanted = select(transfer.c.url, transfer.c.name).where(transfer.c.source == source).distinct()
    with context.store.begin() as connection:
        rows = connection.execute(wanted.order_by(transfer.c.name)).all()
    # What is kept beside the change log is swept.
    candidates = [(row.url, own.within(row.name)) for row in rows]
    directories = [directory for url, directory in candidates if directory.url == url and directory.exists()]
    names = {directory.url for directory in directories}
    try:
        broken = interrupted_dumps(own, source, context.config.slaves_of(source), outgoing_packing(settings))
    except SluiceError as error:
        event("not looked at", directory=own.url, why=error.fact)
        return directories
    return [*directories, *(dump.directory for dump in broken if dump.directory.url not in names)]
