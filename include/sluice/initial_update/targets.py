"""Where an initial update goes: to slaves, each under its fence, or into directories for them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sluice.apply.view import view
from sluice.config import at_home
from sluice.context import Context
from sluice.control.leases import Lease
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.copying import Target
from sluice.initial_update.job import SlaveLoad
from sluice.initial_update.place import Place
from sluice.initial_update.storing import Destination, StoredTables
from sluice.log import event
from sluice.model.names import Pair, TableName
from sluice.parts import Outgoing
from sluice.vendors.dumping import TableDefinition
from sluice.vendors.protocol import SlaveDatabase


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
    held: Sequence[tuple[Pair, Lease]],
    tables: Sequence[TableDefinition],
    log: str | None = None,
) -> tuple[list[Target], dict[str, str]]:
    """New directories for what these slaves are to get: slaves that get the same rows share one.

    Args:
        log: where they are made in the change log, as nobody carries them; else they are where it is configured.

    Returns:
        the directories, and what is wrong with slaves that have none.
    """
    failed: dict[str, str] = {}
    shared: list[list[tuple[Destination, Lease]]] = []
    for pair, lease in held:
        try:
            destination = _destination(context, pair, tables)
        except SluiceError as error:
            failed[pair.slave] = str(error)
            continue
        same = next((group for group in shared if destination.gets_like(group[0][0])), None)
        if same is None:
            shared.append(same := [])
        same.append((destination, lease))
    now = datetime.now(UTC)
    return [
        _directory(context, update, now + timedelta(microseconds=n), group, log) for n, group in enumerate(shared)
    ], failed


def _directory(
    context: Context, update: int, moment: datetime, group: Sequence[tuple[Destination, Lease]], log: str | None
) -> Target:
    pairs = tuple(destination.pair for destination, _ in group)
    settings = context.config.source(pairs[0].source).initial_files if log is None else Outgoing(location=log)
    name = f"{moment:%Y%m%dT%H%M%S.%fZ}"
    place = Place(at_home(settings.location)).within(name)
    stored = StoredTables(place, name, settings, update, [destination for destination, _ in group])
    return Target(pairs, stored, plan_of(context, pairs[0], group[0][1].epoch, stored))


def _destination(context: Context, pair: Pair, tables: Sequence[TableDefinition]) -> Destination:
    slave = context.slave(pair)
    try:
        slave.mapper.keep_apart(table.name for table in tables)
        views = {table.name: view(slave.mapper, table.layout) for table in tables}
        return Destination(pair, slave.mapper, views, _taken_as_text(slave, tables))
    finally:
        slave.close()


def _taken_as_text(slave: SlaveDatabase, tables: Sequence[TableDefinition]) -> set[TableName]:
    """The tables whose rows the slave takes as text alone: all of them if it cannot be asked."""
    columns = {table.name: table.layout.columns for table in tables}
    try:
        return slave.fit(columns).as_text
    except TransientError as error:
        event("not asked", slave=slave.pair.slave, why=error.fact)
        return set(columns)


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
