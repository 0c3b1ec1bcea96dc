"""The end of a dump: slaves begin their stream, or wait for what is on its way to them, if their update goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from sluice.context import Context
from sluice.errors import ConfigError
from sluice.initial_update.blocks.plan import BlockPlan, fingerprint
from sluice.initial_update.chunks.copy import LoadTarget
from sluice.initial_update.files.target import StoredTables
from sluice.initial_update.participants import Leased, restart
from sluice.log import event
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.store import loaded_slaves, replications, statement_results, transfers
from sluice.store.leases import Lease
from sluice.vendors.protocol.load import DumpSnapshot


def join(
    context: Context,
    target: LoadTarget,
    update: int,
    shown: DumpSnapshot,
    later: BlockPlan | None,
    leases_of: Mapping[Pair, Lease],
) -> None:
    """Let the slaves of a target begin their stream, or wait for what is on its way, if their update goes on."""
    files = target.tables if isinstance(target.tables, StoredTables) else None
    begins = files.log_start(shown.position) if files else shown.position
    going_on = restart(context, target.pairs, begins, update)
    target.tables.begin_stream(shown.position, shown.snapshot)
    if later and not files:
        later.record(target, update)
    for pair in going_on:
        if files:
            transfers.begin(context.store, files.transfer(pair))
        else:
            statement_results.record_loaded(
                context.store, pair, context.read_snapshot(pair.source)(shown.snapshot).sees
            )
        loaded_slaves.note(context.store, update, pair.slave, leases_of[pair], _fingerprint(context, pair, begins))


def split_loaded(context: Context, update: int, leased: Sequence[Leased]) -> tuple[set[str], list[Leased]]:
    """Split slaves: an earlier try at the update has let some join, the others are to be filled yet.

    A slave that joined has everything, on its disk. Nothing came since, as the gate is shut. So it is left alone, if
    the configuration is as it was, and the log has been kept for it all along.
    """
    known = [replications.get(context.store, pair) for pair, _ in leased]
    wanted: dict[str, str] = {}
    for state in known:
        # That it cannot be known what a slave is to see is told for this one alone, later.
        with suppress(ConfigError):
            wanted[state.pair.slave] = _fingerprint(context, state.pair, state.position)
    loaded = loaded_slaves.keep_current(context.store, update, wanted)
    for slave in sorted(loaded):
        event("filled already", slave=slave, update=update)
    return loaded, [lease for lease in leased if lease[0].slave not in loaded]


def _fingerprint(context: Context, pair: Pair, begins: Position) -> str:
    return f"{begins} {fingerprint(context, pair)}"
