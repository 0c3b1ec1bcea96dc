"""Catches up tables with rows of several snapshots: tells for which the log is complete, and replays it to the last
snapshot (R5).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from sluice import shell
from sluice.config.mapper import Mapper
from sluice.connections import find_salt
from sluice.context import Context
from sluice.drain.catch_up import Overlap, changes_of, deliver
from sluice.errors import SluiceError
from sluice.initial_update.chunks.copy import LoadTarget
from sluice.log import event
from sluice.model.names import TableName
from sluice.vendors.protocol.load import DumpSnapshot, TableDefinition

PATIENCE_S = 300.0
_LOOK_S = 0.2
# The number of changes to check at a time; they are not written.
_LOOKED_AT = 10_000
_ALL = frozenset("IUD")


def mergeable_tables(
    context: Context,
    source: str,
    mapper: Mapper,
    tables: Sequence[TableDefinition],
    merging: Callable[[Sequence[TableDefinition]], set[TableName]],
) -> set[TableName]:
    """The names of tables that can have rows of several snapshots: the log has all their changes, and a key alone
    distinguishes their rows.

    Args:
        merging: asks the slave which of the tables have such a key.
    """
    # The log lacks changes that are not captured, or that do not reach the slave.
    if context.config.source(source).messages.transformer or context.watch_settings(source).drained_into:
        return set()
    watched, meant, entry = context.watched_tables(source), context.present(source), mapper.entry
    unfiltered = [
        definition for definition in tables if not (entry(definition.name).exclude or entry(definition.name).chooses)
    ]
    complete = [
        definition
        for definition in unfiltered
        if definition.name in meant and set(watched[meant[definition.name]].actions) == _ALL
    ]
    return merging(complete)


def replay(context: Context, target: LoadTarget, overlap: Overlap) -> None:
    """Replay the log on tables of a slave with rows of several snapshots, up to the last snapshot.

    Raises:
        SluiceError: SLC-079, a command of that time may have changed rows; SLC-042, the log was trimmed.
    """
    (pair,) = target.pairs
    slave, settings = context.slave(pair), context.config.slave(pair.slave)
    try:
        slave.take_over(target.plan.epoch)
        salt = find_salt(context.connections, settings.salt)
        manifest = context.manifest(pair.source)
        count = deliver(
            slave, manifest, context.files(), context.read_snapshot(pair.source), overlap, settings.max_batch, salt
        )
    finally:
        slave.close()
    event("caught up", slave=pair.slave, changes=count)


def expect_replayable(context: Context, source: str, overlap: Overlap) -> Overlap:
    """Check that the log of an overlap can be replayed later on the slave; returns the overlap with its end.

    Raises:
        SluiceError: SLC-079, a command of that time may have changed rows.
    """
    manifest = context.manifest(source)
    overlap = replace(overlap, end=manifest.end())
    segments = manifest.ahead("", overlap.begin, beyond=True)
    batches = changes_of(manifest, context.files(), segments, context.read_snapshot(source), overlap, _LOOKED_AT)
    count = sum(len(changes) for changes, _ in batches)
    event("to be brought", source=source, changes=count)
    return overlap


def await_published(source: str, last: DumpSnapshot) -> None:
    """Wait until the log has everything that a snapshot shows. Raises SluiceError SLC-080, no publisher runs."""
    deadline = time.monotonic() + PATIENCE_S
    while not last.published():
        if time.monotonic() > deadline:
            raise SluiceError(
                80,
                f"{source} has not published within {PATIENCE_S:.0f} s what the snapshot of this dump shows",
                f"{shell.unpause_publish(source)}, or see its last log; then trigger initial_update again, with "
                "`resume` if chunks were loaded",
            )
        time.sleep(_LOOK_S)
