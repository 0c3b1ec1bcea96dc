"""What is to be filled once a replication has been (guide: "The Advanced / Cascaded Modus"): remembered, and asked of
Airflow when that one is NORMAL."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from sluice.airflow_api.runs import UPDATING
from sluice.context import Context
from sluice.errors import ConfigError
from sluice.log import event
from sluice.model.names import Pair
from sluice.store import replications
from sluice.store.engine import Store
from sluice.store.tables import cascade, of

# What is said instead of a replication to forget it.
NONE = "none"


def parsed(context: Context, said: str) -> Pair | None:
    """The replication that is named as `source/slave`; none for a blank. Raises ConfigError SLC-003 or SLC-209 if there
    is no such one."""
    said = said.strip()
    if said in ("", NONE):
        return None
    source, slash, slave = said.partition("/")
    if not slash:
        raise ConfigError(209, f"{said!r} names no replication", "write `source/slave`; nothing was changed")
    context.config.replication(source, slave)
    return Pair(source, slave)


def remember(store: Store, pair: Pair, said: str, following: Pair | None, after: Sequence[str]) -> None:
    """Keep what follows an update that is asked for now.

    Args:
        said: nothing, and what was remembered stays; `NONE`, and it is forgotten.
        following: what is filled next, if something was said.
        after: the replications whose updates led to this one.
    """
    with store.begin() as connection:
        if said.strip() == NONE:
            connection.execute(cascade.delete().where(of(cascade, pair)))
            return
        told: dict[str, object] = {"after": list(after), "due": None}
        if following:
            told |= {"next_source": following.source, "next_slave": following.slave}
            row = insert(cascade).values(source=pair.source, slave=pair.slave, **told)
            connection.execute(row.on_conflict_do_update(index_elements=["source", "slave"], set_=told))
        else:
            connection.execute(cascade.update().where(of(cascade, pair)).values(told))


def begin(context: Context, pair: Pair, update: int | None) -> None:
    """An update has ended well: have filled what follows, if something does."""
    with context.store.begin() as connection:
        connection.execute(cascade.update().where(of(cascade, pair)).values(due=update))
    call(context, pair)


def call(context: Context, pair: Pair) -> None:
    """Ask Airflow for the update that is due, once; without its answer the next run of the slave's drain tries again.

    What led to this one is not filled again: both directions would fill each other for ever.
    """
    with context.store.begin() as connection:
        row = connection.execute(select(cascade).where(of(cascade, pair), cascade.c.due.is_not(None))).one_or_none()
    if row is None:
        return
    following, after = Pair(row.next_source, row.next_slave), [*row.after, str(pair)]
    if str(following) in after:
        event("cascade ends", source=pair.source, slave=pair.slave, next=following)
    else:
        conf = {"source": following.source, "slaves": [following.slave], "after": after}
        run = f"after__{pair.source}__{pair.slave}__{row.due}"
        if not context.runs().ask_for(UPDATING, run, conf):
            return
    with context.store.begin() as connection:
        done = cascade.update().where(of(cascade, pair), cascade.c.due == row.due).values(due=None)
        if connection.execute(done).rowcount:
            replications.note(connection, following, "cascade", f"follows {pair}")
