"""One dump for all slaves: one exported snapshot, chunks copied by Spark tasks, keys and indexes after the data (R5).

The order is the rule: the tables are locked against DDL before the first snapshot, the log's end is read before it
too, and the catalog after it. What is visible in the snapshot is obsolete for these slaves, all else is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

from sqlalchemy import func

from sluice.apply.view import view
from sluice.connections import sealed_text
from sluice.context import Context
from sluice.control import answers, leases, remedies, replications
from sluice.control.bootstrap import reconcile
from sluice.control.leases import Lease
from sluice.control.store import Store
from sluice.control.tables import initial_update
from sluice.crash import CrashPoint, reached
from sluice.errors import SluiceError
from sluice.initial_update.job import LoadJob, SlaveLoad, SlaveLoaded
from sluice.initial_update.plan import chunks
from sluice.initial_update.progress import Progress
from sluice.log import event
from sluice.model.names import Pair
from sluice.model.position import Position, Snapshot
from sluice.state.dispatcher import Hold
from sluice.state.replication import Event, Status
from sluice.vendors.dumping import SlaveTables, TableDefinition


@dataclass(frozen=True)
class _Target:
    """One slave of this dump."""

    pair: Pair
    held: Lease
    tables: SlaveTables


def dump(
    context: Context, source: str, slaves: Sequence[str], load: Callable[[LoadJob], list[SlaveLoaded]]
) -> dict[str, object]:
    """Copy every watched table to every slave that is in INITIAL.

    A slave that fails becomes INCONSISTENT and holds nobody up; the others go on (R8).

    Raises:
        SluiceError: the source failed, or every slave did.
    """
    installed = reconcile(context, source)
    for cycle in installed.cycles:
        event("cycle", source=source, tables=",".join(map(str, cycle)), constraints="after the data")
    database = context.source(source)
    watched = [name for stage in installed.stages for name in stage]
    targets = _targets(context, source, slaves)
    failed: dict[str, str] = {}
    with ExitStack() as stack:
        for target in targets:
            stack.callback(leases.release, context.store, target.held)
            stack.callback(target.tables.close)
        snapshot = stack.enter_context(database.dump_snapshot(watched, context.manifest(source).end))
        stack.callback(database.close)
        definitions, sequences = snapshot.definitions(), database.sequences()
        update = replications.get(context.store, targets[0].pair).update_id or 0
        event("dump", source=source, update=update, snapshot=snapshot.snapshot.text, position=snapshot.position)
        ready = _each(targets, lambda target: target.tables.mapper.keep_apart(watched), failed)
        ready = _each(ready, lambda target: target.tables.prepare(definitions), failed)
        plan = chunks(snapshot.leaves(), context.config.bulk_tasks, installed.stages)
        ready = _each(ready, lambda target: target.tables.expect(len(plan)), failed)
        job = LoadJob(
            vendor=context.config.source(source).vendor,
            source=source,
            connection=context.config.source(source).connection,
            sealed=sealed_text(),
            snapshot_id=snapshot.id,
            chunks=tuple(plan),
            binary={one.name: _binary(one, ready) for one in definitions},
            slaves=tuple(_load_of(context, target, definitions) for target in ready),
            tasks=context.config.bulk_tasks,
        )
        _progress(context.store, update, "DUMPING", snapshot.position, snapshot.snapshot, len(plan))
        with Progress(context.store, update, [target.tables for target in ready], len(plan)):
            for done in load(job) if ready else []:
                if done.error:
                    failed.setdefault(done.slave, done.error)
        loaded = [target for target in ready if target.pair.slave not in failed]
        loaded = _each(loaded, lambda target: _whole(target, len(plan)), failed)
        loaded = _each(loaded, lambda target: target.tables.finish(definitions), failed)
        loaded = _each(loaded, lambda target: target.tables.follow(sequences), failed)
        reached(CrashPoint.DUMPED)
        for target in loaded:
            target.tables.begin_stream(snapshot.position, snapshot.snapshot)
            replications.restart_at(context.store, target.pair, snapshot.position)
            answers.covered(context.store, target.pair, snapshot.snapshot)
        rows = loaded[0].tables.progress()[1] if loaded else 0
    for slave, error in failed.items():
        _give_up(context.store, Pair(source, slave), update, error.splitlines()[0])
    _finish(context.store, update, "LOADED" if loaded else "FAILED")
    if not loaded:
        raise SluiceError(
            80,
            f"no slave could be loaded: {'; '.join(failed.values())}",
            f"mend what is said of each, then type: {remedies.update(source, list(failed))}",
        )
    return {"update": update, "rows": rows, "chunks": len(plan), "failed": failed}


def _targets(context: Context, source: str, slaves: Sequence[str]) -> list[_Target]:
    """The slaves that are in INITIAL, each under a lease that fences out an earlier attempt at this dump."""
    targets = []
    for slave in slaves:
        pair = Pair(source, slave)
        if replications.get(context.store, pair).status is Status.INITIAL:
            held = leases.acquire(context.store, f"drain {pair}", force=True)
            targets.append(_Target(pair, held, context.slave(pair).loading(held.epoch)))
    if not targets:
        raise SluiceError(
            81,
            f"none of {', '.join(slaves)} waits for initial data",
            f"trigger the whole DAG, not the task alone: {remedies.update(source, slaves)}",
        )
    return targets


def _whole(target: _Target, chunks: int) -> None:
    done, _ = target.tables.progress()
    if done != chunks:
        raise SluiceError(82, f"{done} of {chunks} chunks were loaded", "trigger initial_update again")


def _give_up(store: Store, pair: Pair, update: int, error: str) -> None:
    """A slave that failed is INCONSISTENT, unless it belongs to another update by now."""
    event("failed", slave=pair.slave, error=error)
    try:
        replications.happen(store, pair, Event.FAIL, error, update_id=update)
    except SluiceError as other:
        event("left alone", slave=pair.slave, why=other.fact)
    else:
        replications.lift(store, pair, Hold.INITIAL, "the update failed")


def _load_of(context: Context, target: _Target, tables: Sequence[TableDefinition]) -> SlaveLoad:
    slave = context.config.slave(target.pair.slave)
    views = {one.name: view(target.tables.mapper, one.layout) for one in tables}
    return SlaveLoad(
        target.pair.slave,
        slave.vendor,
        slave.connection,
        slave.schema_,
        target.held.epoch,
        views,
        slave.salt,
        context.unheard(target.pair),
    )


def _binary(table: TableDefinition, targets: Sequence[_Target]) -> bool:
    """Whether rows may travel undecoded: no type whose number differs between databases, and none that is widened."""
    return table.undecoded and not any(table.name in target.tables.as_text for target in targets)


def _each(targets: Sequence[_Target], step: Callable[[_Target], None], failed: dict[str, str]) -> list[_Target]:
    """Do one step on all slaves at once; those that fail are noted and left out."""

    def attempt(target: _Target) -> _Target | None:
        try:
            step(target)
        except SluiceError as error:
            failed[target.pair.slave] = str(error)
            return None
        return target

    with ThreadPoolExecutor(max(len(targets), 1)) as pool:
        return [target for target in pool.map(attempt, targets) if target]


def _progress(store: Store, update: int, state: str, position: Position, snapshot: Snapshot, count: int) -> None:
    with store.begin() as connection:
        connection.execute(
            initial_update.update()
            .where(initial_update.c.id == update)
            .values(
                state=state,
                snapshot=snapshot.text,
                segment=position.segment,
                ordinal=position.ordinal,
                chunks=count,
                chunks_done=0,
                started_at=func.clock_timestamp(),
            )
        )


def _finish(store: Store, update: int, state: str) -> None:
    with store.begin() as connection:
        ended = initial_update.update().where(initial_update.c.id == update)
        connection.execute(ended.values(state=state, ended_at=func.clock_timestamp()))
