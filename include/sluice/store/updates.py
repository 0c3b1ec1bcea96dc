"""Initial updates in the control store: which DAG run began one, and how it ended."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, case, func, null, or_, select
from sqlalchemy.dialects.postgresql import JSONB

from sluice import shell
from sluice.errors import SluiceError
from sluice.model.names import Pair, TableName
from sluice.model.position import Position, Snapshot
from sluice.model.progress import Progress
from sluice.state.replication import UNDER_WAY, Event, Status
from sluice.store import transfers
from sluice.store.engine import Store
from sluice.store.replications import Replication, actor, hand_over, happened
from sluice.store.tables import initial_update, replication

CANCELLED = "CANCELLED"
# In blocks, while the stream goes on: they are to come, and they do.
TO_LOAD = "TO LOAD BLOCKS"
LOADING = "LOADING BLOCKS"
LOADING_CANCELLED = "CANCELLED IN BLOCKS"
IN_BLOCKS = (TO_LOAD, LOADING)
PUT_OFF = "PUT OFF"
# Before anything was changed for it.
REFUSED = "REFUSED"
# The data are in, or in files: whoever gives up what follows does not undo that.
_WHOLE = ("LOADED", "STORED")


def new(
    store: Store,
    source: str,
    tables: Collection[TableName] = (),
    keys: Sequence[str] = (),
    state: str = "REQUESTED",
) -> int:
    """The number of a new update, begun by the DAG run that this task belongs to.

    Args:
        tables: those that it is for; all if none is named.
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
    """The tables that an update is for, and that a slave lacks if it fails; none if these are all, or nobody knows."""
    with store.begin() as connection:
        known = select(initial_update.c.tables).where(initial_update.c.id == number)
        return frozenset(TableName(*name) for name in connection.execute(known).scalar() or ())


def keys(store: Store, number: int | None) -> list[str]:
    """The ranges of keys that an update is for, as somebody wrote them; none if it is for whole tables."""
    with store.begin() as connection:
        known = select(initial_update.c["keys"]).where(initial_update.c.id == number)
        return list(connection.execute(known).scalar() or ())


def expect_exact(store: Store, number: int, wanted: Collection[TableName], name: str) -> None:
    """See that what tables hold that an update is not for, or not yet, can be believed still.

    Args:
        wanted: the tables that it is for.
        name: of who gets it.

    Raises:
        SluiceError: SLC-197, changes were lost meanwhile, and nobody knows of which tables.
    """
    if tables(store, number) != wanted:
        raise SluiceError(
            197,
            f"changes were lost on the way to {name} meanwhile, and perhaps of tables that keep their rows",
            f"`{shell.status()}` says why; trigger initial_update again, for all tables",
        )


def own_run() -> str:
    """The DAG run that this task belongs to: a retry of the task is the same request, another run is not."""
    return "/".join(actor().split("/")[:2])


def run_of(store: Store, number: int | None) -> str:
    """The run that began an update, as `dag/run`; empty if nobody knows."""
    with store.begin() as connection:
        known = select(initial_update.c.run).where(initial_update.c.id == number)
        return connection.execute(known).scalar() or ""


def ours(store: Store, known: Replication) -> bool:
    """Whether the update of a replication was begun by the run that this task belongs to. Nobody else's is touched."""
    return known.update_id is not None and run_of(store, known.update_id) == own_run()


def cancelled(store: Store) -> set[str]:
    """The slaves for which somebody cancelled what this DAG run had asked for; a shell is no run."""
    run = own_run()
    with store.begin() as connection:
        found = connection.execute(select(initial_update.c.cancelled).where(initial_update.c.run == run)).scalars()
        return {slave for slaves in found for slave in slaves} if "/" in run else set()


def cancel(store: Store, known: Replication, why: str, who: str | None) -> bool:
    """Give up the update of a slave, unless that is over by now; it has ended if it is under way for nobody else.

    At once it is known for whom it was cancelled: else a task of its run that is tried again would ask for another one.
    """
    pair, number = known.pair, known.update_id or 0
    this = initial_update.c.id == number
    over = (this, initial_update.c.state.not_in(_WHOLE), ~under_way(number).exists())
    state = case((initial_update.c.state.in_(IN_BLOCKS), LOADING_CANCELLED), else_=CANCELLED)

    def forget(connection: Connection) -> None:
        slaves = initial_update.c.cancelled + func.to_jsonb(pair.slave)
        connection.execute(initial_update.update().where(this).values(cancelled=slaves))
        ended = initial_update.update().where(*over)
        connection.execute(ended.values(state=state, ended_at=func.clock_timestamp()))
        transfers.end_in(connection, pair, number)

    return happened(store, pair, Event.CANCEL, why, update_id=known.update_id, who=who, also=forget)


def put_off(store: Store, pair: Pair, number: int, asked: Mapping[str, object]) -> None:
    """Let a slave wait for an update of its own, which no run is at work on; others of this one go on.

    Args:
        asked: what else was chosen in the form of the DAG, beside the source, slaves, tables and keys.

    Raises:
        SluiceError: SLC-021, its update is another by now.
    """
    values = {"source": pair.source, "state": PUT_OFF, "run": "", "started_at": func.clock_timestamp()}
    alike = {"tables": initial_update.c.tables, "keys": initial_update.c["keys"]}
    copied = {name: select(one).where(initial_update.c.id == number).scalar_subquery() for name, one in alike.items()}
    row = initial_update.insert().values({**values, **copied, "asked": dict(asked)})
    with store.begin() as connection:
        other = connection.execute(row.returning(initial_update.c.id)).scalar_one()
        hand_over(connection, pair, number, other)


def keep_asked(store: Store, number: int, asked: Mapping[str, object]) -> None:
    """Keep what was chosen for an update that may be asked for again; see `put_off`."""
    with store.begin() as connection:
        connection.execute(initial_update.update().where(initial_update.c.id == number).values(asked=dict(asked)))


def to_ask(store: Store, number: int, slave: str, *, still: bool) -> None:
    """People are still to be asked about what a slave lost the update for, or were."""
    without = initial_update.c.unasked.op("-", return_type=JSONB())(slave)
    values = {"unasked": without + func.to_jsonb(slave) if still else without}
    with store.begin() as connection:
        connection.execute(initial_update.update().where(initial_update.c.id == number).values(values))


def to_ask_about(store: Store, known: Replication) -> int | None:
    """The update that people are still to be asked about: the one that a slave had last, or a later one that was
    refused."""
    last = known.update_id if known.status is Status.INCONSISTENT else None
    refused = and_(initial_update.c.state == REFUSED, initial_update.c.id > (known.update_id or 0))
    wanted = select(func.max(initial_update.c.id)).where(
        initial_update.c.source == known.pair.source,
        initial_update.c.unasked.has_key(known.pair.slave),
        or_(initial_update.c.id == last, refused),
    )
    with store.begin() as connection:
        return connection.execute(wanted).scalar()


def is_refused(store: Store, number: int) -> bool:
    """Whether an update was refused before anything was changed for it."""
    wanted = select(initial_update.c.id).where(initial_update.c.id == number, initial_update.c.state == REFUSED)
    with store.begin() as connection:
        return connection.execute(wanted).scalar() is not None


def asked(store: Store, number: int | None) -> dict[str, object]:
    """What was chosen for an update that is to be asked for again, as the form has it, beside source and slaves."""
    with store.begin() as connection:
        known = select(initial_update.c.asked).where(initial_update.c.id == number)
        said = dict(connection.execute(known).scalar() or {})
    if ranges := keys(store, number):
        return {**said, "key_ranges": ranges}
    return {**said, "tables": sorted(map(str, only))} if (only := tables(store, number)) else said


def is_put_off(store: Store, known: Replication) -> bool:
    """Whether a slave waits for its update to begin, until it can be reached."""
    return known.status is Status.INITIAL and _stands(store, known, PUT_OFF)


def lacks_blocks(store: Store, known: Replication) -> bool:
    """Whether a slave whose stream goes on lacks rows that come in blocks."""
    return known.status is Status.TRANSITION and _stands(store, known, *IN_BLOCKS)


def _stands(store: Store, known: Replication, *states: str) -> bool:
    wanted = select(initial_update.c.id).where(
        initial_update.c.id == known.update_id, initial_update.c.state.in_(states)
    )
    with store.begin() as connection:
        return connection.execute(wanted).scalar() is not None


def given_up(store: Store, number: int | None) -> list[str]:
    """The slaves that an update was given up for, and that no other one has filled since."""
    over = (replication.c.update_id == number, replication.c.status == Status.INCONSISTENT)
    with store.begin() as connection:
        return list(
            connection.execute(select(replication.c.slave).where(*over).order_by(replication.c.slave)).scalars()
        )


def under_way(number: int) -> Select[tuple[str]]:
    """The slaves that an update is under way for."""
    return select(replication.c.slave).where(replication.c.update_id == number, replication.c.status.in_(UNDER_WAY))


def goes_on(store: Store, number: int) -> bool:
    """Whether an update is under way for some slave."""
    with store.begin() as connection:
        return connection.execute(under_way(number).limit(1)).scalar() is not None


def report(store: Store, number: int, found: Progress) -> None:
    """How far an update is."""
    with store.begin() as connection:
        connection.execute(initial_update.update().where(initial_update.c.id == number).values(asdict(found)))


def loading(store: Store, number: int, found: Progress) -> None:
    """How far an update in blocks is."""
    this = initial_update.update().where(initial_update.c.id == number, under_way(number).exists())
    with store.begin() as connection:
        connection.execute(this.values(state=LOADING, **asdict(found)))


def forget(store: Store, source: str) -> None:
    """Nobody knows any more where the data of this source's initial updates stand in the stream."""
    gone = {"snapshot": None, "segment": None, "ordinal": None, "tables": null(), "keys": null()}
    with store.begin() as connection:
        connection.execute(initial_update.update().where(initial_update.c.source == source).values(gone))


def progress(row: Row[Any]) -> Progress:
    """How far an update is, as its row says."""
    return Progress(**{one.name: getattr(row, one.name) for one in fields(Progress)})


def begun(store: Store, number: int, snapshot: Snapshot, position: Position) -> None:
    """The snapshot that an update is planned by, and where the log ended before."""
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


def finish(store: Store, number: int, state: str) -> None:
    """An update has ended, and how; one that was cancelled for all had ended with that."""
    with store.begin() as connection:
        _finish_in(connection, number, state)


def load_ended(store: Store, carried: transfers.Transfer, rows: int) -> None:
    """All that was carried to a slave is in, and its update has ended with that."""
    with store.begin() as connection:
        transfers.load_ended_in(connection, carried, rows)
        _finish_in(connection, carried.update, "LOADED")


def _finish_in(connection: Connection, number: int, state: str) -> None:
    this = (initial_update.c.id == number, initial_update.c.state.not_in((CANCELLED, LOADING_CANCELLED)))
    connection.execute(initial_update.update().where(*this).values(state=state, ended_at=func.clock_timestamp()))
