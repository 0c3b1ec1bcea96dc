"""The targets of an initial update: slaves, each under its fence, or directories for them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from sluice.apply.mapping.table_view import view
from sluice.config.models import OutgoingFiles
from sluice.context import Context
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.chunks.copy import LoadTarget, included_tables
from sluice.initial_update.files.journal import InterruptedDump, interrupted_dumps
from sluice.initial_update.files.manifest import fingerprints
from sluice.initial_update.files.target import Destination, StoredTables, outgoing_packing
from sluice.log import event
from sluice.model.names import Pair, TableName
from sluice.paths import at_home
from sluice.storage.directory import Directory
from sluice.store.leases import Lease
from sluice.vendors.protocol.load import TableDefinition
from sluice.vendors.protocol.read import TakenFormats
from sluice.vendors.protocol.tasks import SlaveLoad


def slave_target(context: Context, pair: Pair, lease: Lease, earlier: int | None = None) -> LoadTarget:
    """A slave under the fence of a lease.

    Args:
        earlier: the epoch under which loading the same began, if it is to go on.
    """
    wanted = context.wipe_out(pair)
    return LoadTarget(
        (pair,), context.slave(pair).loading(lease.epoch, earlier, wanted), slave_plan(context, pair, lease.epoch)
    )


def directories(
    context: Context,
    update: int,
    pairs: Sequence[Pair],
    tables: Sequence[TableDefinition],
    log: str | None = None,
    label: str = "",
    *,
    resume: bool = False,
) -> tuple[list[LoadTarget], dict[str, SluiceError]]:
    """Make directories for the data of these slaves: slaves that get the same rows share one.

    Args:
        log: they are made in the change log, as they are not carried; else in the configured place.
        label: the beginning of their names, if slaves may come later, and are not asked now.
        resume: go on with directories that a dump for these slaves has left; else remove them.

    Returns:
        the directories, and the errors of slaves that have none.
    """
    failed: dict[str, SluiceError] = {}
    shared: list[list[Destination]] = []
    for pair in pairs:
        try:
            destination = _destination(context, pair, tables, ask=not label)
        except SluiceError as error:
            failed[pair.slave] = error
            continue
        same = next((group for group in shared if destination.gets_like(group[0])), None)
        if same is None:
            shared.append(same := [])
        same.append(destination)
    if not shared:
        return [], failed
    settings = context.config.source(pairs[0].source).initial_files if log is None else OutgoingFiles(location=log)
    interrupted = {} if label else _interrupted_dumps(settings, pairs, shared, resume=resume)
    now = datetime.now(UTC)
    made: list[LoadTarget] = []
    for number, group in enumerate(shared):
        goes_on = interrupted.get(group[0].pair.slave)
        moment = f"{now + timedelta(microseconds=number):%Y%m%dT%H%M%S.%fZ}"
        name = goes_on.name if goes_on else f"{label}-{moment}" if label else moment
        directory = Directory(at_home(settings.location)).within(name)
        stored = StoredTables(directory, name, settings, update, group, tables, goes_on, lasting=not label)
        # Who is late finds in a directory that was gone on with that he is.
        made.append(
            LoadTarget(
                tuple(destination.pair for destination in group), stored, slave_plan(context, group[0].pair, 0, stored)
            )
        )
    return made, failed


def _interrupted_dumps(
    settings: OutgoingFiles, pairs: Sequence[Pair], shared: Sequence[Sequence[Destination]], *, resume: bool
) -> dict[str, InterruptedDump]:
    """Interrupted dumps for these slaves, by their first slave. The ones that are not resumed are removed."""
    interrupted: dict[str, InterruptedDump] = {}
    firsts, packing = {group[0].pair.slave for group in shared}, outgoing_packing(settings)
    try:
        for dump in interrupted_dumps(
            Directory(at_home(settings.location)), pairs[0].source, [pair.slave for pair in pairs], packing
        ):
            first = dump.plan.slaves[0]
            if resume and first in firsts - interrupted.keys() and dump.plan.form == packing.form:
                interrupted[first] = dump
            else:
                dump.directory.remove_all()
                event("removed", directory=dump.directory.url, why="its dump broke off, and nobody goes on with it")
    except SluiceError as error:
        event("not looked at", directory=settings.location, why=error.fact)
    return interrupted


def _destination(context: Context, pair: Pair, tables: Sequence[TableDefinition], *, ask: bool) -> Destination:
    mapper = context.mapper(pair)
    mapper.keep_apart(table.name for table in tables)
    wanted, seen = included_tables(mapper, tables), fingerprints(mapper, tables)
    views = {table.name: view(mapper, table.layout) for table in wanted}
    formats = _taken_formats(context, pair, wanted) if ask else TakenFormats()
    return Destination(pair, mapper, views, seen, formats, partial(_mergeable_tables, context, pair))


def _taken_formats(context: Context, pair: Pair, tables: Sequence[TableDefinition]) -> TakenFormats:
    """The formats in which the slave takes rows: text alone if it cannot be asked."""
    columns = {table.name: table.layout.columns for table in tables}
    slave = context.slave(pair)
    try:
        return slave.fit(columns).formats
    except TransientError as error:
        event("not asked", slave=pair.slave, why=error.fact)
        return TakenFormats()
    finally:
        slave.close()


def _mergeable_tables(context: Context, pair: Pair, tables: Sequence[TableDefinition]) -> set[TableName]:
    """The tables into which rows of several snapshots may come; if the slave cannot be asked, it is when they do."""
    entry = context.mapper(pair).entry
    keyed = [table for table in tables if table.layout.tells_by_key and not entry(table.name).chooses]
    slave = context.slave(pair)
    try:
        return slave.merging(keyed)
    except TransientError as error:
        event("not asked", slave=pair.slave, why=error.fact)
        return {table.name for table in keyed}
    finally:
        slave.close()


def slave_plan(context: Context, pair: Pair, epoch: int, stored: StoredTables | None = None) -> SlaveLoad:
    """The description of a slave, or of a directory for it, for tasks; its views are added later."""
    slave = context.config.slave(pair.slave)
    return SlaveLoad(
        pair.slave,
        slave.vendor,
        slave.connection,
        slave.schema_,
        epoch,
        {},
        slave.salt,
        context.unheard(pair),
        stored.into if stored else None,
        adopted=slave.mapper.adopted,
    )
