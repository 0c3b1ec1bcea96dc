"""Older versions of a source's data: stored beside a dump while they are the newest, handed out to slaves that ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sluice.config.models import IncomingFiles
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.initial_update.chunks.copy import DumpSource, Load, NoResume, copy
from sluice.initial_update.files.manifest import fingerprints, read_manifest
from sluice.initial_update.files.target import StoredTables
from sluice.initial_update.targets import directories
from sluice.log import event
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.paths import at_home
from sluice.storage.directory import Directory
from sluice.store import kept_versions, replications, transfers
from sluice.store.transfers import Transfer
from sluice.vendors.protocol.load import TableDefinition
from sluice.vendors.protocol.read import Chunk
from sluice.vendors.registry import master


def keep(
    context: Context, source: str, update: int, dumped: DumpSource, load: Load, every: Callable[[], Sequence[Chunk]]
) -> None:
    """Store what every kind of slave sees in a dump's snapshot, if the source's version is to be kept and is not yet.

    Whatever goes wrong with it is told, and is tried again by the next dump.

    Args:
        every: makes the chunks of all tables.
    """
    settings = context.config.source(source)
    if (version := kept_versions.missing_version(context.store, source, settings)) is None:
        return
    named = kept_versions.label(settings, version)
    wrong: dict[str, SluiceError] = {}
    everybody = [Pair(source, slave) for slave in context.config.slaves_of(source)]
    targets, failed = directories(
        context, update, everybody, dumped.definitions, context.config.initial_data_url, named
    )
    try:
        done, wrong = copy(context, source, update, dumped, targets, load, NoResume(every()))
        for number, target in enumerate(done):
            assert isinstance(target.tables, StoredTables)
            target.tables.begin_stream(dumped.position, dumped.snapshot)
            stored = target.tables.transfer(everybody[0])
            kept_versions.keep(context.store, version, number, stored)
            event("version kept", source=source, version=version, directory=stored.url)
    except SluiceError as error:
        wrong[source] = error
    finally:
        for target in targets:
            target.tables.close()
    for slave, why in (failed | wrong).items():
        event("version not kept", source=source, version=version, slave=slave, why=why.message)


def hand_out(context: Context, pairs: Sequence[Pair], update: int, version: str) -> dict[str, SluiceError]:
    """Let slaves wait for the kept data of a version, with all changes since. Return the errors of the others."""
    failed: dict[str, SluiceError] = {}
    for pair in pairs:
        try:
            dump, begins, _ = find_kept(context, pair, version)
            replications.restart_at(context.store, pair, begins, update)
        except SluiceError as error:
            failed[pair.slave] = error
            continue
        transfers.begin(context.store, replace(dump, update=update))
        event("version handed out", slave=pair.slave, version=version, directory=dump.url)
    return failed


def find_kept(context: Context, pair: Pair, version: str) -> tuple[Transfer, Position, list[TableDefinition]]:
    """The kept dump of a version with this slave's view, the position from which the log goes on, and the tables.

    Raises:
        SluiceError: SLC-194, there is nothing; SLC-042, the log does not reach back to it.
    """
    define = master(context.config.source(pair.source).vendor).definition
    mapper, read_snapshot = context.mapper(pair), context.read_snapshot(pair.source)
    for dump in kept_versions.kept_dumps(context.store, pair, version):
        stored = read_manifest(
            Directory(at_home(context.config.initial_data_url)).within(dump.name),
            dump,
            IncomingFiles(),
            read_snapshot,
        )
        definitions = [define(definition) for definition in stored.definitions]
        seen = fingerprints(mapper, definitions)
        if seen in stored.slaves.values():
            context.manifest(pair.source).ahead("", stored.position)
            return dump, stored.position, definitions
    raise SluiceError(
        194,
        f"version {version} of {pair.source} is not kept for what slave {pair.slave} sees; "
        f"kept is {', '.join(kept_versions.versions(context.store, pair.source)) or 'none'}",
        "choose one that is kept, or the newest; initial_files.versions says what is kept from now on",
    )
