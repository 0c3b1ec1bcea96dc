"""DROPs that a slave has not carried out yet when it is filled: the dump replaces the stream up to there, and says
nothing of tables that are gone. So they are carried out before the tables are filled, as `drops` has it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sluice.changelog.schema import CHANGES
from sluice.context import Context
from sluice.drain import shared_tables
from sluice.errors import SluiceError
from sluice.initial_update.chunks.copy import LoadTarget
from sluice.log import event
from sluice.model.action import Action, Command, Policy
from sluice.model.names import TableName
from sluice.model.position import Position
from sluice.model.table_definition import TableChange

_ACTIONS = pa.schema([CHANGES.field(name) for name in ("ordinal", "action")])


def carry_out(context: Context, target: LoadTarget, queued: Sequence[str], dumped: Collection[TableName]) -> None:
    """Carry out the DROPs between a slave's position and the snapshot of its dump. The table stays if the slave is not
    to carry them out, or asks first, or if it has rows of others.

    Args:
        queued: DROPs that waited in ITEMS when the snapshot was taken.
        dumped: the tables that the dump has, which were made again since, if they were dropped.
    """
    (pair,) = target.pairs
    policy = context.config.replication(pair.source, pair.slave).policies.drops
    slave = context.slave(pair)
    try:
        position, filled = slave.take_over(target.plan.epoch)
        if filled is None:
            return
        mapper = slave.mapper
        kept = {mapper.table(name) for name in dumped if not mapper.excludes(name)}
        for name, drop in _drops(context, pair.source, position, queued).items():
            if mapper.excludes(name) or (slave_table := mapper.table(name)) in kept:
                continue
            if policy is not Policy.APPLY or shared_tables.others(context, pair, slave_table):
                event("a dropped table stays", slave=pair.slave, table=name, drops=policy)
                continue
            slave.apply([drop], position)
            event("dropped, as on the master", slave=pair.slave, table=name)
    finally:
        slave.close()


def _drops(context: Context, source: str, position: Position, queued: Sequence[str]) -> dict[TableName, Command]:
    """The last DROP of each table that the log has after a position, or that waits in ITEMS."""
    drops: dict[TableName, Command] = {}
    for text in [*_read_commands(context, source, position), *queued]:
        if before := TableChange.from_json(text).before:
            drops.pop(before.name, None)
            drops[before.name] = Command(Action.DROP, None, text, position.ordinal, 0)
    return drops


def _read_commands(context: Context, source: str, position: Position) -> Iterator[str]:
    files = context.files()
    try:
        segments = context.manifest(source).ahead("", position, beyond=True)
    except SluiceError as error:
        event("not looked for tables that were dropped", source=source, why=error.fact)
        return
    for segment in segments:
        actions = files.read(segment.file, position.ordinal, _ACTIONS)
        if not any(pc.any(pc.equal(records["action"], Action.DROP)).as_py() for records in actions):
            continue
        for records in files.read(segment.file, position.ordinal):
            after = pc.and_(pc.equal(records["action"], Action.DROP), pc.greater(records["ordinal"], position.ordinal))
            for (text,) in records.filter(after)["new"].to_pylist():
                yield text
