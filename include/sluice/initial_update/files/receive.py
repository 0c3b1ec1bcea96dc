"""The other half of an update that is carried by hand: files are checked, loaded, and the slave joins the stream."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from sluice import shell
from sluice.changelog import initial_data
from sluice.config.models import IncomingFiles
from sluice.context import Context
from sluice.crash import CrashPoint, crash_if_asked
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.chunks.copy import DumpSource, Load, NoResume, copy, included_tables
from sluice.initial_update.files import approval
from sluice.initial_update.files.manifest import MANIFEST, StoredDump, altered_error, fingerprints, read_manifest
from sluice.initial_update.files.merge_snapshots import MergedSnapshots
from sluice.initial_update.files.verify_files import check
from sluice.initial_update.participants import restart
from sluice.initial_update.targets import slave_target
from sluice.log import event
from sluice.model.names import Pair
from sluice.paths import at_home
from sluice.storage.directory import Directory
from sluice.store import leases, statement_results, transfers, updates
from sluice.store.transfers import Transfer
from sluice.vendors.protocol.tasks import FromFiles
from sluice.vendors.registry import master


def expected_files(context: Context, source: str, slave: str) -> dict[str, object]:
    """The directory in which the files of a slave have to arrive, and their number.

    None of them is looked for if all is loaded, and the slave's gate shut still.

    Raises:
        SluiceError: SLC-172, it waits for none.
    """
    pair = Pair(source, slave)
    if loaded := transfers.loaded_transfer(context.store, pair):
        return {"url": _transfer_directory(context, loaded).url, "files": 0, "quiet_s": 0.0}
    awaited = _awaited_transfer(context, pair)
    settings = _settings(context, awaited)
    return {"url": _transfer_directory(context, awaited).url, "files": awaited.files, "quiet_s": settings.quiet_s}


def receive(context: Context, source: str, slave: str, load: Load) -> dict[str, object]:
    """Load the files that a slave waits for. Nothing here asks the master.

    What an earlier attempt has loaded of them stays. An error leaves the slave waiting, with its gate shut. If all is
    loaded already, nothing is, and the files are cleared away that it may have died over. The result tells what is
    asked before the gate opens, too.

    Raises:
        SluiceError: SLC-172, SLC-183, SLC-187, SLC-192, these files are not what it waits for; SLC-042, the log
            was trimmed past them. Its tables are as they were.
        TransientError: SLC-188, not all of it could be loaded.
    """
    pair = Pair(source, slave)
    if already := transfers.loaded_transfer(context.store, pair):
        return _end(context, already, 0)
    awaited = _awaited_transfer(context, pair)
    directory = _transfer_directory(context, awaited)
    stored = read_manifest(directory, awaited, _settings(context, awaited), context.read_snapshot(awaited.pair.source))
    dumped = _dump_source(context, stored, directory, awaited)
    _refuse_changed(context, stored, dumped, pair)
    if between := stored.log_overlap:
        context.manifest(source).ahead(slave, between.begin)
    check(directory, stored, awaited, context.config.bulk_tasks)
    event("checked", directory=directory.url, chunks=len(stored.chunks), files=awaited.files)
    with ExitStack() as stack:
        lease = leases.acquire(context.store, f"drain {pair}", force=True)
        stack.callback(leases.release, context.store, lease)
        # A task that gives its update up from here on has a later epoch.
        awaited = _awaited_transfer(context, pair, awaited.update)
        transfers.record_load(context.store, awaited, lease.epoch)
        target = slave_target(context, pair, lease, awaited.epoch)
        stack.callback(target.tables.close)
        before = (
            MergedSnapshots(context, stored.plan, dumped.definitions, between) if between else NoResume(stored.plan)
        )
        loaded, failed = copy(context, source, awaited.update, dumped, [target], load, before)
        if not loaded:
            wrong = failed[target.name]
            raise TransientError(
                188,
                f"not all of {directory.url} is in: {wrong.message}",
                f"{wrong.hint}. What is in stays, and receive_initial_files, triggered again, loads the rest",
            )
        rows = sum(target.tables.progress().values())
        crash_if_asked(CrashPoint.DUMPED)
        target.tables.begin_stream(dumped.position, dumped.snapshot)
        statement_results.record_loaded(context.store, pair, context.read_snapshot(pair.source)(dumped.snapshot).sees)
        updates.end_load(context.store, awaited, rows)
        if between:
            # The log before that is not needed any more, not even to load everything again.
            restart(context, [pair], dumped.position, awaited.update)
    return _end(context, replace(awaited, rows=rows), len(stored.chunks))


def _end(context: Context, loaded: Transfer, chunks: int) -> dict[str, object]:
    """Clear the loaded files away; returns the result.

    Args:
        chunks: that were loaded by now.
    """
    _clear_away(context, _transfer_directory(context, loaded), loaded)
    counts = {"update": loaded.update, "rows": loaded.rows, "chunks": chunks}
    return {**counts, **approval.question(context, loaded)}


def _awaited_transfer(context: Context, pair: Pair, update: int | None = None) -> Transfer:
    """The transfer that a slave waits for, of this update if one is given."""
    context.config.replication(pair.source, pair.slave)
    awaited = transfers.awaited_transfer(context.store, pair)
    if awaited is None or awaited.update != (update or awaited.update):
        raise SluiceError(
            172,
            f"slave {pair.slave} waits for no files of {pair.source}: they are loaded, or its update was given up",
            f"see `{shell.status()}`; to fill it anew, type: {shell.update(pair.source, [pair.slave])}",
        )
    return awaited


def _transfer_directory(context: Context, awaited: Transfer) -> Directory:
    """The directory of a transfer, as the slave's side sees it."""
    return Directory(at_home(_settings(context, awaited).location)).within(awaited.name)


def _settings(context: Context, awaited: Transfer) -> IncomingFiles:
    """The settings of the incoming files: the slave's, unless they are stored beside the change log."""
    if initial_data.holds(context.config, awaited):
        return IncomingFiles(location=context.config.initial_data_url, quiet_s=0)
    return context.config.slave(awaited.pair.slave).initial_files


def _dump_source(context: Context, stored: StoredDump, directory: Directory, awaited: Transfer) -> DumpSource:
    define = master(context.config.source(stored.source).vendor).definition
    try:
        definitions = [define(definition) for definition in stored.definitions]
    except ValueError:
        raise altered_error(directory, [f"a definition in {MANIFEST} cannot be read"], awaited) from None
    return DumpSource(
        definitions,
        stored.sequences,
        stored.dump_snapshot,
        stored.position,
        FromFiles(directory, awaited.sha256, _settings(context, awaited).key_file),
    )


def _refuse_changed(context: Context, stored: StoredDump, dumped: DumpSource, pair: Pair) -> None:
    """The stream goes on with what the slave sees now, so its data must be what it saw then."""
    mapper = context.mapper(pair)
    now = fingerprints(mapper, dumped.definitions)
    then = stored.slaves.get(pair.slave) or next((seen for seen in stored.slaves.values() if seen == now), {})
    slave = context.slave(pair)
    try:
        formats = slave.fit(
            {table.name: table.layout.columns for table in included_tables(mapper, dumped.definitions)}
        ).formats
    finally:
        slave.close()
    differ = [name for name in now if now[name] != then.get(name)]
    differ += sorted({str(chunk.table) for chunk in stored.chunks if not formats.takes(chunk.table, chunk.format)})
    if differ:
        raise SluiceError(
            187,
            f"what slave {pair.slave} sees of {', '.join(sorted(set(differ)))} is not what it saw when that was stored",
            "put the configuration, or the types of its columns, back to what they were. Or have it dumped again: "
            "trigger initial_update with `force`",
        )


def _clear_away(context: Context, directory: Directory, loaded: Transfer) -> None:
    """Delete the loaded files. Files on a disk that cannot be written stay."""
    if _settings(context, loaded).keep or transfers.is_needed(context.store, loaded):
        return
    try:
        if directory.exists():
            directory.remove_all()
    except SluiceError as error:
        event("left behind", directory=directory.url, why=error.fact)
