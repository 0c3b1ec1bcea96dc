"""The first step: the slave's gate shuts, and what is held back is obsolete (guide: "Preparing the update")."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select

from sluice.context import Context
from sluice.control import leases, remedies, replications, standby, transfers
from sluice.control.store import Store
from sluice.control.tables import initial_update
from sluice.errors import ConfigError, SluiceError
from sluice.log import event
from sluice.model.names import Pair
from sluice.state.dispatcher import Hold
from sluice.state.replication import Event, Status


def inhibit(context: Context, source: str, slaves: Sequence[str], *, force: bool = False) -> dict[str, object]:
    """Ask for an initial update of these slaves: INITIAL, STANDBY, and the running drain fenced out.

    Args:
        force: give up data that is on its way to one of them by hand.

    Raises:
        SluiceError: SLC-020 if one of them is in an update already, SLC-189 if it waits for data that is on its way by
            hand, SLC-096 if a person paused its drain; all are left as they were.
    """
    pairs = [Pair(source, slave) for slave in dict.fromkeys(slaves)]
    for pair in pairs:
        context.config.replication(source, pair.slave)
    if not pairs:
        known = ", ".join(context.config.slaves_of(source))
        raise ConfigError(4, "no slave was named", f"name at least one of them as `slaves`: {known}")
    context.store.migrate()
    number = current(context.store, pairs)
    wanted = [pair for pair in pairs if not _is_in(context.store, pair, number)]
    given_up = [pair for pair in wanted if transfers.awaited(context.store, pair)]
    for pair in wanted:
        if pair not in given_up:
            replications.may_happen(context.store, pair, Event.REQUEST)
        elif not force:
            raise _on_its_way(pair)
        _refuse_paused(context, pair)
    for pair in given_up:
        replications.happen(context.store, pair, Event.CANCEL, "another initial update was asked for")
    number = number or _new(context.store, source)
    for pair in pairs:
        if pair in wanted:
            replications.happen(context.store, pair, Event.REQUEST, update_id=number)
            transfers.end(context.store, pair)
        replications.shut(context.store, pair, Hold.INITIAL, f"initial update {number}")
        # What is held back is obsolete. The dump begins at the log's end of then; a failure ends in INCONSISTENT.
        replications.restart_at(context.store, pair, context.manifest(source).end())
        held = leases.acquire(context.store, f"drain {pair}", force=True)
        slave = context.slave(pair)
        try:
            slave.take_over(held.epoch)
            event("inhibited", slave=pair.slave, update=number)
        except SluiceError as error:
            # Its gate is shut all the same, and the dump, which takes over again, gives up this slave alone (R8).
            event("not reached", slave=pair.slave, update=number, why=error.fact)
        finally:
            slave.close()
            leases.release(context.store, held)
    return {"update": number, "slaves": [pair.slave for pair in pairs]}


def _on_its_way(pair: Pair) -> SluiceError:
    return SluiceError(
        189,
        f"initial data is on its way to slave {pair.slave} by hand, see `./sluice status`",
        "nothing was changed; copy it, and trigger receive_initial_files. To give it up, trigger initial_update with "
        "`force`",
    )


def _refuse_paused(context: Context, pair: Pair) -> None:
    """A person's pause is respected, so the update could not end: say so before anything is emptied."""
    if who := standby.paused_by(context.store, pair, context.switch(pair)):
        raise SluiceError(
            96,
            f"an initial update of {pair.slave} could not end: its drain DAG was paused by {who}",
            f"nothing was changed; type: {remedies.unpause(pair)}, then trigger initial_update again",
        )


def current(store: Store, pairs: Sequence[Pair]) -> int | None:
    """The update of this run that some of these are in already, which a retried task finds."""
    known = [replications.get(store, pair) for pair in pairs]
    numbers = {one.update_id for one in known if one.status is Status.INITIAL}
    if len(numbers) != 1:
        return None
    number = numbers.pop()
    return number if run_of(store, number) else None


def _is_in(store: Store, pair: Pair, number: int | None) -> bool:
    known = replications.get(store, pair)
    return known.status is Status.INITIAL and known.update_id == number


def run_of(store: Store, number: int | None) -> bool:
    """Whether an update was begun by the DAG run that this task belongs to."""
    wanted = select(initial_update.c.id).where(initial_update.c.id == number, initial_update.c.run == _run())
    with store.begin() as connection:
        return connection.execute(wanted).scalar() is not None


def _new(store: Store, source: str) -> int:
    with store.begin() as connection:
        return int(
            connection.execute(
                initial_update.insert()
                .values(source=source, state="REQUESTED", run=_run(), started_at=func.clock_timestamp())
                .returning(initial_update.c.id)
            ).scalar_one()
        )


def _run() -> str:
    """The DAG run that this task belongs to: a retry of the task is the same request, another run is not."""
    return "/".join(replications.actor().split("/")[:2])
