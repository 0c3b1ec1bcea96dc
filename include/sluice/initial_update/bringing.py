"""What the log says of the time between two snapshots: of which tables it says all, and how they are brought to the
second one (R5)."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from sluice.connections import salt_of
from sluice.context import Context
from sluice.dispatch.overlap import deliver
from sluice.errors import SluiceError
from sluice.initial_update.copying import Target
from sluice.log import event
from sluice.model.names import TableName
from sluice.model.position import Position, Snapshot
from sluice.vendors.dumping import DumpSnapshot, TableDefinition

PATIENCE_S = 300.0
_LOOK_S = 0.2
_ALL = frozenset("IUD")


def told(
    context: Context, source: str, target: Target, tables: Sequence[TableDefinition], *, made: bool = False
) -> set[TableName]:
    """The tables that can have rows of several snapshots, since the log says all that happens to them and a key alone
    tells their rows apart; also those that the slave lacks, if they are to be made."""
    # What is not captured, or does not reach the slave, the log does not say.
    if context.config.source(source).messages.transformer or context.wanted(source).drained_into:
        return set()
    watched, entry = context.watched(source), target.tables.mapper.entry
    ours = [one for one in tables if not (entry(one.name).exclude or entry(one.name).chooses)]
    whole = [one for one in ours if set(watched[one.name].actions) == _ALL]
    return target.tables.merging(whole, made=made)


def bring(
    context: Context,
    target: Target,
    tables: Collection[TableName],
    first: tuple[Position, Snapshot],
    last: DumpSnapshot,
) -> None:
    """Bring tables of a slave, which have rows of some time between, to what the last snapshot shows.

    Args:
        first: where the log ended before a snapshot that shows no more than any of these rows, and the snapshot.

    Raises:
        SluiceError: SLC-084, nobody publishes; SLC-079, a command of that time may have changed rows.
    """
    (pair,) = target.pairs
    _await_publisher(pair.source, last)
    slave, settings = context.slave(pair), context.config.slave(pair.slave)
    begin, shown = first
    try:
        slave.take_over(target.plan.epoch)
        count = deliver(
            slave,
            context.manifest(pair.source),
            context.files(),
            tables,
            begin,
            (shown, last.snapshot),
            settings.max_batch,
            salt_of(context.connections, settings.salt),
        )
    finally:
        slave.close()
    event("caught up", slave=pair.slave, changes=count)


def _await_publisher(source: str, last: DumpSnapshot) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not last.published():
        if time.monotonic() > deadline:
            raise SluiceError(
                84,
                f"{source} has not published within {PATIENCE_S:.0f} s what the snapshot of this dump shows",
                f"airflow dags unpause publish__{source}, or see its last log; then trigger initial_update again, with "
                "`resume` if chunks were loaded",
            )
        time.sleep(_LOOK_S)
