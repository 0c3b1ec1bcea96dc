"""One dump for all slaves: one exported snapshot, chunks copied by Spark tasks, keys and indexes after the data (R5).

The order is the rule: the tables are locked against DDL before the first snapshot, the log's end is read before it
too, and the catalog after it. What is visible in the snapshot is obsolete for these slaves, all else is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from sluice.context import Context
from sluice.control import absence, answers, leases, losses, remedies, replications, shelf, transfers, updates, versions
from sluice.control.bootstrap import reconcile
from sluice.control.leases import Lease
from sluice.control.store import Store
from sluice.crash import CrashPoint, reached
from sluice.errors import SluiceError
from sluice.initial_update.copying import Dumped, Load, Nothing, Target, copy, each
from sluice.initial_update.external import External
from sluice.initial_update.job import OfMaster
from sluice.initial_update.keeping import hand_out, keep
from sluice.initial_update.online import Later
from sluice.initial_update.partly import Held, Partly
from sluice.initial_update.plan import chunks
from sluice.initial_update.resuming import Resumption, began
from sluice.initial_update.storing import StoredTables
from sluice.initial_update.targets import directories, slave_target
from sluice.log import event
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.state.replication import Event, Status
from sluice.vendors.dumping import DumpSnapshot

# How rows come: chunks of the snapshot are copied; programs export and import; or blocks, when the stream goes on.
SNAPSHOT, EXTERNAL, MARKERS = MODES = "snapshot", "external", "markers"


def dump(
    context: Context,
    source: str,
    slaves: Sequence[str],
    load: Load,
    *,
    mode: str = SNAPSHOT,
    store: bool = False,
    resume: bool = False,
    version: str = "",
) -> dict[str, object]:
    """Copy every watched table to every slave that is in INITIAL, or into directories for them.

    A slave that fails becomes INCONSISTENT and holds nobody up; the others go on (R8). So they do if one cannot be
    reached: what it is to get waits in the change log, or its update for it, as it is configured.

    Args:
        load: copies chunks.
        mode: one of `MODES`; for blocks tables are made here, and emptied.
        store: the data is to be carried to the slaves by hand.
        version: of the source, whose data slaves are to have, as `prefix_Ver_x`; the newest if it is not given.
        resume: go on where an earlier update broke off. A second try of the same one does so by itself.

    Raises:
        SluiceError: the source failed, or every slave did.
    """
    if store and mode != SNAPSHOT:
        raise SluiceError(
            207,
            f"what comes in mode {mode} is not stored in files",
            f"nothing was changed; trigger initial_update with `store_initial_data`, or with mode {mode}",
        )
    installed = reconcile(context, source)
    for cycle in installed.cycles:
        event("cycle", source=source, tables=",".join(map(str, cycle)), constraints="after the data")
    database, settings = context.source(source), context.config.source(source)
    watched = [name for stage in installed.stages for name in stage]
    with ExitStack() as stack:
        held = _held(context, source, slaves)
        for _, lease in held:
            stack.callback(leases.release, context.store, lease)
        update = replications.get(context.store, held[0][0]).update_id or 0
        only, at = updates.tables(context.store, update), None
        older = version.removeprefix(versions.label(context, source, ""))
        if only and (store or older or mode != SNAPSHOT):
            raise SluiceError(
                208,
                f"update {update} is for some tables alone, which go over the wire, out of one snapshot of now",
                f"trigger initial_update with mode {SNAPSHOT}, without `version` and `store_initial_data`; or for all",
            )
        if older not in ("", settings.messages.version):
            failed = hand_out(context, [pair for pair, _ in held], update, older)
            _end(context, source, update, failed, "STORED" if len(failed) < len(held) else "FAILED", ())
            return {"update": update, "rows": 0, "chunks": 0, "failed": _told(source, failed, ()), "off_line": []}
        may_store = mode == SNAPSHOT and not only
        here, away = ([], held) if store else _apart(context, held, update, may_store=may_store)
        off_line = [] if store else [one[0].slave for one in held if one not in here]
        if not here and not away:
            updates.finish(context.store, update, updates.PUT_OFF)
            return {"update": update, "rows": 0, "chunks": 0, "failed": {}, "off_line": off_line}
        lossy: dict[str, SluiceError] = {}
        here, away = ([one for one in some if _may_be_filled(context, one[0], lossy)] for some in (here, away))
        if only:
            watched = [name for name in watched if name in only]
            at = Held(context, [pair for pair, _ in here], stack) if here else None
        snapshot = stack.enter_context(database.dump_snapshot(watched, context.manifest(source).end, at))
        stack.callback(database.close)
        event("dump", source=source, update=update, snapshot=snapshot.snapshot.text, position=snapshot.position)
        dumped = Dumped(
            snapshot.definitions(),
            database.sequences(),
            snapshot.snapshot,
            snapshot.position,
            OfMaster(settings.vendor, settings.connection, snapshot.id),
        )
        targets = [slave_target(context, pair, lease) for pair, lease in here]
        log = None if store else shelf.place(context)
        files, failed = directories(context, update, [pair for pair, _ in away], dumped.definitions, log)
        for target in (*targets, *files):
            stack.callback(target.tables.close)
        later = Later(context, source, snapshot, dumped.definitions) if mode == MARKERS else None
        if later:
            targets = each(targets, later.plan, failed)
        before: Resumption | External | Partly
        bring = load
        if at:
            before = Partly(context, snapshot, installed.stages, update, only, at)
        elif mode == EXTERNAL:
            before = External(context, source, database, snapshot, dumped.definitions, dumped.sequences)
            bring = before.load
        else:
            wanted = resume or began(context.store, update)
            before = Resumption(
                context,
                source,
                update,
                dumped.definitions,
                snapshot,
                installed.stages,
                later.tables if later else (),
                wanted=wanted,
            )
        loaded, wrong = copy(context, source, update, dumped, targets, bring, before) if targets else ([], {})
        count = len(before.chunks())
        every = chunks(snapshot.leaves(), context.config.bulk_tasks, installed.stages)
        if files:
            stored, others = copy(context, source, update, dumped, files, load, Nothing(every))
            loaded, wrong, count = loaded + stored, wrong | others, len(every)
        rows = loaded[0].tables.progress()[1] if loaded else 0
        reached(CrashPoint.DUMPED)
        loaded = each(loaded, lambda target: _join(context, target, update, before.shown, later), wrong)
        if may_store:
            keep(context, source, update, dumped, load, every)
        failed |= lossy | {
            pair.slave: wrong[target.name]
            for target in (*targets, *files)
            for pair in target.pairs
            if target.name in wrong
        }
    again = ["store_initial_data" if store else "resume"]
    _end(context, source, update, failed, ("STORED" if store else "LOADED") if loaded else "FAILED", again)
    return {
        "update": update,
        "rows": rows,
        "chunks": count,
        "failed": _told(source, failed, again),
        "off_line": off_line,
    }


def _end(
    context: Context, source: str, update: int, failed: Mapping[str, SluiceError], state: str, again: Sequence[str]
) -> None:
    """Give up those that failed, and say how the update ended."""
    for slave, error in failed.items():
        event("failed", slave=slave, error=error.said)
        # It may belong to another update by now.
        replications.happened(context.store, Pair(source, slave), Event.FAIL, error.said, update_id=update)
    updates.finish(context.store, update, state)
    if state == "FAILED":
        facts = "; ".join(f"{slave}: {error.said}" for slave, error in failed.items())
        hints = "; ".join(f"{slave}: {remedies.of_update(error)}" for slave, error in failed.items())
        raise SluiceError(
            80,
            f"no slave could be loaded: {facts}",
            f"mend each ({hints}), then type: {remedies.update(source, list(failed), *again)}",
        )


def _told(source: str, failed: Mapping[str, SluiceError], again: Sequence[str]) -> dict[str, str]:
    """What went wrong with each slave, and what to type once others of the update are in."""
    hints = {slave: remedies.of_update(error, Pair(source, slave), again) for slave, error in failed.items()}
    return {slave: f"{error.said}\nHINT: {hints[slave]}" for slave, error in failed.items()}


def _may_be_filled(context: Context, pair: Pair, lossy: dict[str, SluiceError]) -> bool:
    """Whether the slave's columns take the master's values, or what somebody allowed, and no master would lose what is
    wiped out; else why not is noted."""
    try:
        context.wiped(pair)
        losses.look(context, pair)
    except SluiceError as error:
        lossy[pair.slave] = error
    return pair.slave not in lossy


def _apart(
    context: Context, held: Sequence[tuple[Pair, Lease]], update: int, *, may_store: bool
) -> tuple[list[tuple[Pair, Lease]], list[tuple[Pair, Lease]]]:
    """The slaves that can be reached, and those whose data is to wait for them; the update of all others does."""
    absent = absence.absent(context, [pair for pair, _ in held])
    put_off = [pair for pair in absent if not may_store or context.config.slave(pair.slave).off_line == "wait"]
    for pair in put_off:
        updates.put_off(context.store, pair, update)
    return (
        [one for one in held if one[0] not in absent],
        [one for one in held if one[0] in absent and one[0] not in put_off],
    )


def _held(context: Context, source: str, slaves: Sequence[str]) -> list[tuple[Pair, Lease]]:
    """The slaves that wait for this run, each under a lease that fences out an earlier attempt at this dump."""
    waiting = _waiting(context.store, [Pair(source, slave) for slave in slaves])
    held = {pair: leases.acquire(context.store, f"drain {pair}", force=True) for pair in waiting}
    # Whoever begins another update from here on has a later epoch.
    still = _waiting(context.store, waiting)
    for pair in waiting:
        if pair not in still:
            leases.release(context.store, held.pop(pair))
    if not held:
        raise SluiceError(
            81,
            f"none of {', '.join(slaves)} waits for initial data",
            f"trigger the whole DAG, not the task alone: {remedies.update(source, slaves)}",
        )
    return list(held.items())


def _waiting(store: Store, pairs: Sequence[Pair]) -> list[Pair]:
    known = [replications.get(store, pair) for pair in pairs]
    return [one.pair for one in known if one.status is Status.INITIAL and updates.ours(store, one)]


def _join(context: Context, target: Target, update: int, shown: DumpSnapshot, later: Later | None) -> None:
    """Let those that a target is for begin their stream, or wait for what is on its way, if their update goes on."""
    going_on = [pair for pair in target.pairs if _goes_on(context.store, pair, update, shown.position)]
    if not going_on:
        raise SluiceError(85, f"the update of {target.name} was given up meanwhile", "see `./sluice status`")
    target.tables.begin_stream(shown.position, shown.snapshot)
    if later and not isinstance(target.tables, StoredTables):
        later.expect(target, update)
    for pair in going_on:
        if isinstance(target.tables, StoredTables):
            transfers.begin(context.store, target.tables.transfer(pair))
        else:
            answers.covered(context.store, pair, shown.snapshot)


def _goes_on(store: Store, pair: Pair, update: int, position: Position) -> bool:
    try:
        replications.restart_at(store, pair, position, update, updates.tables(store, update))
    except SluiceError as error:
        event("left alone", slave=pair.slave, why=error.fact)
        return False
    return True
