"""A source whose server is to be upgraded, with the identity of that server when the last of it was published. Nothing
is published until a server is taken that goes on from there.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.postgresql import insert

from sluice import shell
from sluice.errors import SluiceError
from sluice.model.names import Pair
from sluice.model.server_identity import ServerIdentity
from sluice.store import leases, replications
from sluice.store.engine import Store
from sluice.store.leases import Lease
from sluice.store.tables import publisher


@dataclass(frozen=True)
class AwaitedUpgrade:
    """The upgrade that a source waits for: the server that is to be upgraded, who prepared that, and when."""

    source: str
    server: ServerIdentity
    actor: str
    since: datetime

    @property
    def fact(self) -> str:
        """The state, in a sentence."""
        return (
            f"nothing is published: {self.source} waits since {self.since:%Y-%m-%d %H:%M:%S %Z} for the server that "
            f"takes the place of {self.server.version} ({self.actor})"
        )

    @property
    def hint(self) -> str:
        """The command that ends it."""
        taken = shell.trigger("upgrade_master", source=self.source, step="after")
        return (
            "changes wait on the master. Let the connection lead to the new server, then type: "
            f"{taken}. The same on the old server gives it up"
        )


def await_server(store: Store, held: Lease, source: str, server: ServerIdentity, who: str) -> None:
    """Let a source wait for the server that goes on from this one. Raises FencedError SLC-050, somebody took over."""
    replaced = former(store, source)
    with store.begin() as connection:
        leases.expect_held(connection, held)
        since = connection.execute(select(func.clock_timestamp())).scalar_one()
        awaited = {"server": asdict(server), "actor": who, "since": since.isoformat(), "former": replaced}
        values = {"upgrade": awaited}
        new = insert(publisher).values(source=source, **values)
        connection.execute(new.on_conflict_do_update(index_elements=["source"], set_=values))
        _audit(connection, source, f"before, on {server.version}", who)


def find(store: Store, source: str) -> AwaitedUpgrade | None:
    """The upgrade that a source waits for; None if there is none."""
    with store.begin() as connection:
        wanted = select(publisher.c.upgrade).where(publisher.c.source == source)
        values = connection.execute(wanted).scalar()
    if not values or "server" not in values:
        return None
    since = datetime.fromisoformat(values["since"])
    return AwaitedUpgrade(source, ServerIdentity(**values["server"]), values["actor"], since)


def expect_none(store: Store, source: str) -> None:
    """See that a source waits for no upgrade. Raises SluiceError SLC-960, it does."""
    if awaited := find(store, source):
        raise SluiceError(960, f"{awaited.fact}", awaited.hint)


def former(store: Store, source: str) -> str | None:
    """The incarnation of the server that the last upgrade replaced; None if there was none."""
    with store.begin() as connection:
        wanted = select(publisher.c.upgrade["former"].astext).where(publisher.c.source == source)
        incarnation: str | None = connection.execute(wanted).scalar()
    return incarnation


def end(store: Store, source: str, how: str, who: str, replaced: str | None = None) -> None:
    """Let a source wait no more; nothing if it does not.

    Args:
        replaced: the incarnation of the server that another one replaced; None if it stays.
    """
    if find(store, source) is None:
        return
    values = {"former": replaced or former(store, source)}
    with store.begin() as connection:
        connection.execute(publisher.update().where(publisher.c.source == source).values(upgrade=values))
        _audit(connection, source, how, who)


def _audit(connection: Connection, source: str, detail: str, who: str) -> None:
    replications.note(connection, Pair(source, ""), "upgrade of the master", detail, who)
