"""The replication that is filled once another one is NORMAL (guide: "The Advanced / Cascaded Modus")."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from sluice.log import event
from sluice.model.names import INITIAL_UPDATE, Pair
from sluice.store import pending_runs, replications
from sluice.store.engine import Store
from sluice.store.pending_runs import PendingRun
from sluice.store.tables import cascade, for_pair

# What is said instead of a replication to forget it.
NONE = "none"


def remember(store: Store, pair: Pair, text: str, following: Pair | None, after: Sequence[str]) -> None:
    """Keep what follows an update that is asked for now.

    Args:
        text: nothing, and what was remembered stays; `NONE`, and it is forgotten.
        following: what is filled next, if something was said.
        after: the replications whose updates led to this one.
    """
    with store.begin() as connection:
        if text.strip() == NONE:
            connection.execute(cascade.delete().where(for_pair(cascade, pair)))
            return
        values: dict[str, object] = {"after": list(after)}
        if following:
            values |= {"next_source": following.source, "next_slave": following.slave}
            row = insert(cascade).values(source=pair.source, slave=pair.slave, **values)
            connection.execute(row.on_conflict_do_update(index_elements=["source", "slave"], set_=values))
        else:
            connection.execute(cascade.update().where(for_pair(cascade, pair)).values(values))


def next_pair(store: Store, pair: Pair) -> Pair | None:
    """The replication that is filled once this one is NORMAL, if there is one."""
    with store.begin() as connection:
        row = connection.execute(select(cascade).where(for_pair(cascade, pair))).one_or_none()
    return Pair(row.next_source, row.next_slave) if row else None


def follow(store: Store, pair: Pair, update: int | None) -> None:
    """An update has ended well: want the one that follows, if there is one.

    What led to this one is not filled again: both directions would fill each other for ever.
    """
    with store.begin() as connection:
        row = connection.execute(select(cascade).where(for_pair(cascade, pair))).one_or_none()
        if row is None:
            return
        following, after = Pair(row.next_source, row.next_slave), [*row.after, str(pair)]
        if str(following) in after:
            event("cascade ends", source=pair.source, slave=pair.slave, next=following)
            return
        conf = {"source": following.source, "slaves": [following.slave], "after": after}
        run = f"after__{pair.source}__{pair.slave}__{update}"
        pending_runs.put(connection, pair, PendingRun(INITIAL_UPDATE, run, conf))
        replications.note(connection, following, "cascade", f"follows {pair}")
