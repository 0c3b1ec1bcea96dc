"""One dump for all slaves: one exported snapshot, chunks copied by Spark tasks, keys and indexes after the data (R5).

The order is the rule: the tables are locked against DDL before the first snapshot, the log's end is read before it
too, and the catalog after it. What is visible in the snapshot is obsolete for these slaves, all else is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from sluice.context import Context
from sluice.control import answers, leases, remedies, replications, transfers
from sluice.control.bootstrap import reconcile
from sluice.control.leases import Lease
from sluice.control.store import Store
from sluice.crash import CrashPoint, reached
from sluice.errors import SluiceError
from sluice.initial_update.copying import Dumped, Load, copy, finish
from sluice.initial_update.external import External
from sluice.initial_update.job import OfMaster
from sluice.initial_update.resuming import Resumption, began
from sluice.initial_update.storing import StoredTables
from sluice.initial_update.targets import directories, slave_target
from sluice.log import event
from sluice.model.names import Pair
from sluice.state.dispatcher import Hold
from sluice.state.replication import Event, Status

# Who brings the rows: chunks of the dump's snapshot are copied, or programs export and import.
SNAPSHOT, EXTERNAL = MODES = "snapshot", "external"


def dump(
    context: Context,
    source: str,
    slaves: Sequence[str],
    load: Load,
    *,
    mode: str = SNAPSHOT,
    store: bool = False,
    resume: bool = False,
) -> dict[str, object]:
    """Copy every watched table to every slave that is in INITIAL, or into directories for them.

    A slave that fails becomes INCONSISTENT and holds nobody up; the others go on (R8).

    Args:
        load: copies chunks.
        mode: one of `MODES`: whether chunks are copied, or programs bring the rows.
        store: the data is to be carried to the slaves by hand.
        resume: go on where an earlier update broke off. A second try of the same one does so by itself.

    Raises:
        SluiceError: the source failed, or every slave did.
    """
    if store and mode == EXTERNAL:
        raise SluiceError(
            207,
            "what programs export is not stored in files",
            f"nothing was changed; trigger initial_update with `store_initial_data`, or with mode {EXTERNAL}",
        )
    installed = reconcile(context, source)
    for cycle in installed.cycles:
        event("cycle", source=source, tables=",".join(map(str, cycle)), constraints="after the data")
    database, settings = context.source(source), context.config.source(source)
    watched = [name for stage in installed.stages for name in stage]
    failed: dict[str, str] = {}
    with ExitStack() as stack:
        held = _held(context, source, slaves)
        for _, lease in held:
            stack.callback(leases.release, context.store, lease)
        snapshot = stack.enter_context(database.dump_snapshot(watched, context.manifest(source).end))
        stack.callback(database.close)
        update = replications.get(context.store, held[0][0]).update_id or 0
        event("dump", source=source, update=update, snapshot=snapshot.snapshot.text, position=snapshot.position)
        dumped = Dumped(
            snapshot.definitions(),
            database.sequences(),
            snapshot.snapshot,
            snapshot.position,
            OfMaster(settings.vendor, settings.connection, snapshot.id),
        )
        before: Resumption | External
        if mode == EXTERNAL:
            before = External(context, source, database, snapshot, dumped.definitions, dumped.sequences)
            load = before.load
        else:
            wanted = (resume or began(context.store, update)) and not store
            before = Resumption(context, source, update, dumped.definitions, snapshot, installed.stages, wanted=wanted)
        if store:
            targets, failed = directories(context, update, held, dumped.definitions)
        else:
            targets = [slave_target(context, pair, lease) for pair, lease in held]
        for target in targets:
            stack.callback(target.tables.close)
        loaded, wrong = copy(context, source, update, dumped, targets, load, before)
        failed |= {
            pair.slave: wrong[target.name] for target in targets for pair in target.pairs if target.name in wrong
        }
        rows = loaded[0].tables.progress()[1] if loaded else 0
        reached(CrashPoint.DUMPED)
        shown = before.shown
        for target in loaded:
            target.tables.begin_stream(shown.position, shown.snapshot)
            for pair in target.pairs:
                replications.restart_at(context.store, pair, shown.position)
                if isinstance(target.tables, StoredTables):
                    transfers.begin(context.store, target.tables.transfer(pair))
                else:
                    answers.covered(context.store, pair, shown.snapshot)
    for slave, error in failed.items():
        _give_up(context.store, Pair(source, slave), update, error.splitlines()[0])
    finish(context.store, update, ("STORED" if store else "LOADED") if loaded else "FAILED")
    if not loaded:
        raise SluiceError(
            80,
            f"no slave could be loaded: {'; '.join(failed.values())}",
            "mend what is said of each, then type: "
            f"{remedies.update(source, list(failed), 'store_initial_data' if store else 'resume')}",
        )
    return {"update": update, "rows": rows, "chunks": len(before.chunks()), "failed": failed}


def _held(context: Context, source: str, slaves: Sequence[str]) -> list[tuple[Pair, Lease]]:
    """The slaves that are in INITIAL, each under a lease that fences out an earlier attempt at this dump."""
    waiting = [
        pair
        for pair in (Pair(source, slave) for slave in slaves)
        if replications.get(context.store, pair).status is Status.INITIAL
    ]
    if not waiting:
        raise SluiceError(
            81,
            f"none of {', '.join(slaves)} waits for initial data",
            f"trigger the whole DAG, not the task alone: {remedies.update(source, slaves)}",
        )
    return [(pair, leases.acquire(context.store, f"drain {pair}", force=True)) for pair in waiting]


def _give_up(store: Store, pair: Pair, update: int, error: str) -> None:
    """A slave that failed is INCONSISTENT, unless it belongs to another update by now."""
    event("failed", slave=pair.slave, error=error)
    try:
        replications.happen(store, pair, Event.FAIL, error, update_id=update)
    except SluiceError as other:
        event("left alone", slave=pair.slave, why=other.fact)
    else:
        replications.lift(store, pair, Hold.INITIAL, "the update failed")
