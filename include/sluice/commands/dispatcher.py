"""Standby and activate: a person shuts the gate of a slave, and opens it (guide: "The Details Page").

The store says it first, with who did it, and the gate is shut from then on; Airflow's pause switch follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from sluice import shell
from sluice.airflow_api.dags import Dags
from sluice.bounded_calls import BoundedCalls
from sluice.context import Context
from sluice.errors import SluiceError, TransientError
from sluice.model.names import Pair
from sluice.state.dispatcher import Hold
from sluice.state.replication import DELIVERING, UNDER_WAY
from sluice.store import replications

Command = Callable[[Context, Dags, Pair, str], None]
# A page waits for so long; so many requests of Airflow and of the store are made at the same time.
PATIENCE_S = 20.0
_AT_ONCE = 4
_BY_PEOPLE = (Hold.ADMIN, Hold.EXCEPTION)
_OPENS = {
    Hold.INITIAL: "by its initial update, and opens when the data is in",
    Hold.APPROVAL: "until somebody decides about a command of the master",
}


@dataclass(frozen=True)
class Switched:
    """The slaves that were switched, and the slaves that were not, each with its reason."""

    switched: list[str] = field(default_factory=list)
    left_alone: dict[str, SluiceError] = field(default_factory=dict)


def switch_source(
    context: Context, dags: Dags, source: str, command: Command, who: str, *, patience_s: float = PATIENCE_S
) -> Switched:
    """Put every slave of a source on standby, or activate it, if that can be: some at the same time.

    Args:
        command: `standby` or `activate`.
        patience_s: after so many seconds slaves that are not switched yet are left alone.

    Raises:
        ConfigError: SLC-003, there is no such source.
        SluiceError: the first reason, if none of them could be switched.
    """
    context.config.source(source)
    names = context.config.slaves_of(source)
    silent: list[TransientError] = []

    def switch(name: str) -> None:
        # What does not answer is not asked again for each slave.
        if silent:
            raise silent[0]
        try:
            command(context, dags, Pair(source, name), who)
        except TransientError as error:
            silent.append(error)
            raise

    errors = BoundedCalls[str](_AT_ONCE).results({name: partial(switch, name) for name in names}, patience_s)
    done = Switched()
    for name in names:
        error = errors.get(name, None if name in errors else _late(Pair(source, name), patience_s))
        if error is None:
            done.switched.append(name)
        else:
            done.left_alone[name] = error
    if done.left_alone and not done.switched:
        raise next(iter(done.left_alone.values()))
    return done


def _late(pair: Pair, seconds: float) -> SluiceError:
    return SluiceError(
        366,
        f"{pair} was not switched within {seconds:g} seconds",
        f"it may be soon: look with `{shell.status()}` in a minute, then do it again for those that are as before. If "
        "this stays, Airflow or the control store is slow",
    )


def standby(context: Context, dags: Dags, pair: Pair, who: str) -> None:
    """Deliver nothing to a slave until somebody activates it; the change log keeps everything for it.

    Raises:
        ConfigError: SLC-003, there is no such replication.
        SluiceError: SLC-020, an initial update is under way; SLC-915, Airflow does not let this person.
    """
    context.config.replication(pair.source, pair.slave)
    status = replications.get(context.store, pair).status
    if status in UNDER_WAY:
        raise SluiceError(
            20,
            f"{pair} is {status}: its initial update would stand still",
            f"nothing was changed; wait until it is NORMAL, or cancel the update; see `{shell.status()}`",
        )
    held = Hold.ADMIN in replications.holds(context.store, pair)
    replications.shut(context.store, pair, Hold.ADMIN, "paused", who)
    try:
        dags.switch("drain", pair.source, pair.slave, paused=True)
    except SluiceError:
        if not held:
            replications.lift(context.store, pair, Hold.ADMIN, "it was not paused in Airflow", who)
        raise


def activate(context: Context, dags: Dags, pair: Pair, who: str) -> None:
    """Deliver to a slave again, also after an error that was fixed.

    Raises:
        ConfigError: SLC-003, there is no such replication.
        SluiceError: SLC-020, something else shuts the gate; SLC-915, Airflow does not let this person.
    """
    context.config.replication(pair.source, pair.slave)
    held = replications.holds(context.store, pair)
    others = [why for kind, why in _OPENS.items() if kind in held]
    status = replications.get(context.store, pair).status
    others += [] if status in DELIVERING or others else [f"since it is {status}, and opens when it was filled"]
    if others and not held.keys() & set(_BY_PEOPLE) and not context.switch(pair).find_pause():
        raise SluiceError(
            20,
            f"the gate of {pair} is shut {others[0]}",
            f"nothing was changed; `{shell.status()}` says how far it is, and what opens it",
        )
    # First, since the gate stays shut where Airflow does not let this person.
    dags.switch("drain", pair.source, pair.slave, paused=False)
    notes = [held[kind] for kind in _BY_PEOPLE if kind in held]
    for note in notes:
        replications.lift(context.store, pair, note.kind, "activated", who)
    if not notes:
        # It was paused in Airflow, and no drain has noticed it since.
        with context.store.begin() as connection:
            replications.note(connection, pair, "activate", f"{Hold.ADMIN}: activated", who)
