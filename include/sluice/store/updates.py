"""Initial updates in the control store: which DAG run began one, and how it ended."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict

from sqlalchemy import Connection, Select, func, null, select

from sluice import shell
from sluice.errors import SluiceError
from sluice.model.names import Pair, TableName
from sluice.model.position import Position, Snapshot
from sluice.model.progress import LoadProgress
from sluice.state.initial_update import CANCELLED, IN_BLOCKS, UpdateEvent, UpdateState, after
from sluice.state.replication import UNDER_WAY, ReplicationEvent, Status
from sluice.store import transfers
from sluice.store.engine import Store
from sluice.store.replications import ReplicationState, actor, hand_over, try_record
from sluice.store.tables import initial_update, replication

_ENDING = {UpdateEvent.LOADED, UpdateEvent.STORED, UpdateEvent.MADE_TABLES, UpdateEvent.FAIL, UpdateEvent.PUT_OFF}


def new(
    store: Store,
    source: str,
    tables: Collection[TableName] = (),
    keys: Sequence[str] = (),
    state: UpdateState = UpdateState.REQUESTED,
) -> int:
    """The number of a new update, begun by the DAG run that this task belongs to.

    Args:
        tables: what it is for; all if none is named.
        keys: the ranges of their keys that it is for, if these are not all.
    """
    values = {
        "source": source,
        "state": state,
        "run": own_run(),
        "started_at": func.clock_timestamp(),
        "tables": [[name.schema, name.table] for name in sorted(tables)] or null(),
        "keys": list(keys) or null(),
    }
    with store.begin() as connection:
        return int(
            connection.execute(initial_update.insert().values(values).returning(initial_update.c.id)).scalar_one()
        )


def tables(store: Store, number: int | None) -> frozenset[TableName]:
    """The tables of an update, which a slave lacks if it fails; empty for all tables, or if unknown."""
    with store.begin() as connection:
        known = select(initial_update.c.tables).where(initial_update.c.id == number)
        return frozenset(TableName(*name) for name in connection.execute(known).scalar() or ())


def keys(store: Store, number: int | None) -> list[str]:
    """The key ranges of an update, as they were written; empty for whole tables."""
    with store.begin() as connection:
        known = select(initial_update.c["keys"]).where(initial_update.c.id == number)
        return list(connection.execute(known).scalar() or ())


def expect_exact(store: Store, number: int, wanted: Collection[TableName], name: str) -> None:
    """See that what tables hold that an update is not for, or not yet, can be believed still.

    Args:
        wanted: the tables that it is for.
        name: of who gets it.

    Raises:
        SluiceError: SLC-079, changes of unknown tables were lost meanwhile.
    """
    if tables(store, number) != wanted:
        raise SluiceError(
            79,
            f"changes were lost on the way to {name} meanwhile, and perhaps of tables that keep their rows",
            f"`{shell.status()}` says why; trigger initial_update again, for all tables",
        )


def own_run() -> str:
    """The DAG run that this task belongs to: a retry of the task is the same request, another run is not."""
    return "/".join(actor().split("/")[:2])


def run_of(store: Store, number: int | None) -> str:
    """The run that began an update, as `dag/run`; empty if unknown."""
    with store.begin() as connection:
        known = select(initial_update.c.run).where(initial_update.c.id == number)
        return connection.execute(known).scalar() or ""


def is_ours(store: Store, known: ReplicationState) -> bool:
    """Whether the update of a replication was begun by the run that this task belongs to. No other is touched."""
    return known.update_id is not None and run_of(store, known.update_id) == own_run()


def may_end(store: Store, known: ReplicationState, receiving: str) -> bool:
    """Whether the run that this task belongs to may end the update of a replication: it began that, or it brought the
    rows, which came in files.

    Args:
        receiving: the id of the DAG that does.
    """
    brings = own_run().startswith(f"{receiving}/") and not lacks_blocks(store, known)
    return is_ours(store, known) or brings


def cancelled_slaves(store: Store) -> set[str]:
    """The slaves whose update by this DAG run was cancelled; empty outside of a run."""
    run = own_run()
    with store.begin() as connection:
        rows = connection.execute(select(initial_update.c.cancelled).where(initial_update.c.run == run)).scalars()
        return {slave for slaves in rows for slave in slaves} if "/" in run else set()


def cancel(store: Store, known: ReplicationState, why: str, who: str | None) -> bool:
    """Cancel the update of a slave, unless it is over; the update ends with its last slave.

    At once it is known for whom it was cancelled: else a task of its run that is tried again would ask for another one.
    """
    pair, number = known.pair, known.update_id or 0
    this = initial_update.c.id == number

    def forget(connection: Connection) -> None:
        slaves = initial_update.c.cancelled + func.to_jsonb(pair.slave)
        connection.execute(initial_update.update().where(this).values(cancelled=slaves))
        others = connection.execute(select_under_way(number).limit(1)).first()
        if not others:
            record_event(connection, number, UpdateEvent.CANCEL)
        transfers.end_in(connection, pair, number)

    return try_record(store, pair, ReplicationEvent.CANCEL, why, update_id=known.update_id, who=who, also=forget)


def put_off(store: Store, pair: Pair, number: int, asked: Mapping[str, object]) -> None:
    """Let a slave wait for an update of its own, which no run is at work on; others of this one go on.

    Args:
        asked: what else was chosen in the form of the DAG, beside the source, slaves, tables and keys.

    Raises:
        SluiceError: SLC-021, its update is another by now.
    """
    values = {"source": pair.source, "state": UpdateState.PUT_OFF, "run": "", "started_at": func.clock_timestamp()}
    alike = {"tables": initial_update.c.tables, "keys": initial_update.c["keys"]}
    copied = {
        name: select(column).where(initial_update.c.id == number).scalar_subquery() for name, column in alike.items()
    }
    row = initial_update.insert().values({**values, **copied, "asked": dict(asked)})
    with store.begin() as connection:
        other = connection.execute(row.returning(initial_update.c.id)).scalar_one()
        hand_over(connection, pair, number, other)


def keep_choices(store: Store, number: int, asked: Mapping[str, object]) -> None:
    """Keep what was chosen for an update that may be asked for again; see `put_off`."""
    with store.begin() as connection:
        connection.execute(initial_update.update().where(initial_update.c.id == number).values(asked=dict(asked)))


def is_refused(store: Store, number: int) -> bool:
    """Whether an update was refused before anything was changed for it."""
    wanted = select(initial_update.c.id).where(
        initial_update.c.id == number, initial_update.c.state == UpdateState.REFUSED
    )
    with store.begin() as connection:
        return connection.execute(wanted).scalar() is not None


def choices(store: Store, number: int | None) -> dict[str, object]:
    """The choices of an update for a request of another run, besides source and slaves."""
    with store.begin() as connection:
        known = select(initial_update.c.asked).where(initial_update.c.id == number)
        choices = dict(connection.execute(known).scalar() or {})
    if ranges := keys(store, number):
        return {**choices, "key_ranges": ranges}
    return {**choices, "tables": sorted(map(str, only))} if (only := tables(store, number)) else choices


def is_put_off(store: Store, known: ReplicationState) -> bool:
    """Whether a slave waits for its update to begin, until it can be reached."""
    return known.status is Status.INITIAL and _stands(store, known, UpdateState.PUT_OFF)


def lacks_blocks(store: Store, known: ReplicationState) -> bool:
    """Whether a slave whose stream goes on lacks rows that come in blocks."""
    return known.status is Status.TRANSITION and _stands(store, known, *IN_BLOCKS)


def _stands(store: Store, known: ReplicationState, *states: UpdateState) -> bool:
    wanted = select(initial_update.c.id).where(
        initial_update.c.id == known.update_id, initial_update.c.state.in_(states)
    )
    with store.begin() as connection:
        return connection.execute(wanted).scalar() is not None


def abandoned_slaves(store: Store, number: int | None) -> list[str]:
    """The slaves that an update was given up for, and that no other one has filled since."""
    over = (replication.c.update_id == number, replication.c.status == Status.INCONSISTENT)
    with store.begin() as connection:
        return list(
            connection.execute(select(replication.c.slave).where(*over).order_by(replication.c.slave)).scalars()
        )


def select_under_way(number: int) -> Select[tuple[str]]:
    """The slaves that an update is under way for."""
    return select(replication.c.slave).where(replication.c.update_id == number, replication.c.status.in_(UNDER_WAY))


def is_under_way(store: Store, number: int) -> bool:
    """Whether an update is under way for some slave."""
    with store.begin() as connection:
        return connection.execute(select_under_way(number).limit(1)).scalar() is not None


def report(store: Store, number: int, progress: LoadProgress) -> None:
    """Record the progress of an update."""
    with store.begin() as connection:
        connection.execute(initial_update.update().where(initial_update.c.id == number).values(asdict(progress)))


def loads(store: Store, run: str) -> list[LoadProgress]:
    """The progress of the loads that a run is at work on.

    Args:
        run: as `dag/run`.
    """
    columns = [column for column in initial_update.c if column is not initial_update.c.by_table]
    wanted = select(*columns).where(initial_update.c.run == run, initial_update.c.ended_at.is_(None))
    with store.begin() as connection:
        rows = connection.execute(wanted.order_by(initial_update.c.id)).mappings().all()
    return [load for row in rows if (load := LoadProgress.from_values(dict(row))).has_begun]


def report_blocks(store: Store, number: int, progress: LoadProgress) -> None:
    """Record the progress of an update in blocks."""
    with store.begin() as connection:
        if connection.execute(select_under_way(number).limit(1)).first():
            record_event(connection, number, UpdateEvent.LOAD_BLOCKS, **asdict(progress))


def forget(store: Store, source: str) -> None:
    """Forget the snapshots of a source's initial updates, whose positions in the stream are unknown now."""
    with store.begin() as connection:
        forget_in(connection, source)


def forget_in(connection: Connection, source: str) -> None:
    """The same, in the caller's transaction."""
    gone = {"snapshot": None, "segment": None, "ordinal": None, "tables": null(), "keys": null()}
    connection.execute(initial_update.update().where(initial_update.c.source == source).values(gone))


def record_snapshot(store: Store, number: int, snapshot: Snapshot, position: Position) -> None:
    """Record the snapshot that an update is planned by, and where the log ended before."""
    values = {"snapshot": snapshot.text, "segment": position.segment, "ordinal": position.ordinal}
    with store.begin() as connection:
        connection.execute(initial_update.update().where(initial_update.c.id == number).values(values))


def go_on(store: Store, number: int, earlier: int) -> None:
    """An update goes on with what an earlier one has loaded, out of its snapshot."""
    copied = ("snapshot", "segment", "ordinal")
    known = select(*(initial_update.c[name] for name in copied)).where(initial_update.c.id == earlier)
    with store.begin() as connection:
        values = dict(zip(copied, connection.execute(known).one(), strict=True))
        connection.execute(initial_update.update().where(initial_update.c.id == number).values(values))


def finish(store: Store, number: int, event: UpdateEvent) -> None:
    """An update has ended, and how; one that was cancelled for all had ended with that."""
    with store.begin() as connection:
        record_event(connection, number, event)


def end_load(store: Store, carried: transfers.Transfer, rows: int) -> None:
    """All that was carried to a slave is in, and its update has ended with that."""
    with store.begin() as connection:
        transfers.end_load_in(connection, carried, rows)
        record_event(connection, carried.update, UpdateEvent.LOADED)


def record_event(connection: Connection, number: int, event: UpdateEvent, **values: object) -> None:
    """Record an event of an update, in the caller's transaction.

    Args:
        values: what else becomes of its row, unless it was cancelled.
    """
    this = initial_update.c.id == number
    row = connection.execute(select(initial_update.c.state).where(this).with_for_update()).one_or_none()
    if row is None:
        return
    before = UpdateState(row.state)
    state = after(before, event)
    if before in CANCELLED or (event is UpdateEvent.CANCEL and state is before):
        return
    if event in _ENDING or event is UpdateEvent.CANCEL:
        values["ended_at"] = func.clock_timestamp()
    connection.execute(initial_update.update().where(this).values(state=state, **values))
