"""The end of a dump: slaves begin their stream, or wait for what is on its way to them, if their update goes on."""

from __future__ import annotations

from sluice.context import Context
from sluice.control import answers, transfers
from sluice.initial_update.copying import Target
from sluice.initial_update.later import Later
from sluice.initial_update.storing import StoredTables
from sluice.initial_update.waiting import restart
from sluice.vendors.dumping import DumpSnapshot


def join(context: Context, target: Target, update: int, shown: DumpSnapshot, later: Later | None) -> None:
    """Let those that a target is for begin their stream, or wait for what is on its way, if their update goes on."""
    files = target.tables if isinstance(target.tables, StoredTables) else None
    begins = files.begins(shown.position) if files else shown.position
    going_on = restart(context.store, target.pairs, begins, update)
    target.tables.begin_stream(shown.position, shown.snapshot)
    if later and not files:
        later.expect(target, update)
    for pair in going_on:
        if files:
            transfers.begin(context.store, files.transfer(pair))
        else:
            answers.covered(context.store, pair, shown.snapshot)
