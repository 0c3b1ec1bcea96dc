"""Where an initial update goes: to slaves, each under its fence, or into directories for them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sluice.apply.view import view
from sluice.config import at_home
from sluice.context import Context
from sluice.control.leases import Lease
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.copying import Target, given
from sluice.initial_update.job import SlaveLoad
from sluice.initial_update.place import Place
from sluice.initial_update.stored import fingerprints
from sluice.initial_update.storing import Destination, StoredTables
from sluice.log import event
from sluice.model.names import Pair, TableName
from sluice.parts import Outgoing
from sluice.vendors.dumping import TableDefinition


def slave_target(context: Context, pair: Pair, held: Lease, earlier: int | None = None) -> Target:
    """A slave under the fence of a lease.

    Args:
        earlier: the epoch under which loading the same began, if it is to go on.
    """
    wanted = context.wiped(pair)
    return Target((pair,), context.slave(pair).loading(held.epoch, earlier, wanted), plan_of(context, pair, held.epoch))


def directories(
    context: Context,
    update: int,
    pairs: Sequence[Pair],
    tables: Sequence[TableDefinition],
    log: str | None = None,
    label: str = "",
) -> tuple[list[Target], dict[str, SluiceError]]:
    """New directories for what these slaves are to get: slaves that get the same rows share one.

    Args:
        log: where they are made in the change log, as nobody carries them; else they are where it is configured.
        label: what their names begin with, if slaves may come later, and are not asked now.

    Returns:
        the directories, and what is wrong with slaves that have none.
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
    now = datetime.now(UTC)
    moments = [f"{now + timedelta(microseconds=number):%Y%m%dT%H%M%S.%fZ}" for number in range(len(shared))]
    begin = f"{label}-" if label else ""
    return [
        _directory(context, update, f"{begin}{moment}", group, log, tables)
        for moment, group in zip(moments, shared, strict=True)
    ], failed


def _directory(
    context: Context,
    update: int,
    name: str,
    group: Sequence[Destination],
    log: str | None,
    tables: Sequence[TableDefinition],
) -> Target:
    pairs = tuple(destination.pair for destination in group)
    settings = context.config.source(pairs[0].source).initial_files if log is None else Outgoing(location=log)
    place = Place(at_home(settings.location)).within(name)
    stored = StoredTables(place, name, settings, update, group, tables)
    # Nobody is to be fenced out of a new directory.
    return Target(pairs, stored, plan_of(context, pairs[0], 0, stored))


def _destination(context: Context, pair: Pair, tables: Sequence[TableDefinition], *, ask: bool) -> Destination:
    mapper = context.mapper(pair)
    mapper.keep_apart(table.name for table in tables)
    wanted, seen = given(mapper, tables), fingerprints(mapper, tables)
    views = {table.name: view(mapper, table.layout) for table in wanted}
    return Destination(pair, mapper, views, seen, _taken_as_text(context, pair, wanted) if ask else set(views))


def _taken_as_text(context: Context, pair: Pair, tables: Sequence[TableDefinition]) -> set[TableName]:
    """The tables whose rows the slave takes as text alone: all of them if it cannot be asked."""
    columns = {table.name: table.layout.columns for table in tables}
    slave = context.slave(pair)
    try:
        return slave.fit(columns).as_text
    except TransientError as error:
        event("not asked", slave=pair.slave, why=error.fact)
        return set(columns)
    finally:
        slave.close()


def plan_of(context: Context, pair: Pair, epoch: int, stored: StoredTables | None = None) -> SlaveLoad:
    """A slave, or a directory for it, as tasks are told of it; its views are still to come."""
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
    )
