"""The clients of the relay: their filters, and up to where they have each source's change log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert

from sluice.store import leases
from sluice.store.engine import Store
from sluice.store.leases import Lease
from sluice.store.tables import relay_client, relay_position, segment

_SEGMENT = relay_position.c.position // 2**32


@dataclass(frozen=True)
class RelayClientState:
    """A client as it is kept.

    Attributes:
        filters: in a plain form.
        positions: by source, the position behind the last event that it has.
    """

    name: str
    filters: list[dict[str, Any]] = field(default_factory=list)
    positions: Mapping[str, int] = field(default_factory=dict)


def list_clients(store: Store) -> dict[str, RelayClientState]:
    """All clients, by name."""
    with store.begin() as connection:
        positions: dict[str, dict[str, int]] = {}
        for row in connection.execute(select(relay_position)):
            positions.setdefault(row.client, {})[row.source] = row.position
        clients = connection.execute(select(relay_client.c.name, relay_client.c.filters))
        return {name: RelayClientState(name, filters, positions.get(name, {})) for name, filters in clients}


def save(store: Store, held: Lease, clients: Iterable[RelayClientState]) -> None:
    """Keep clients, seen now. Raises FencedError SLC-050 if another relay took over."""
    with store.begin() as connection:
        leases.expect_held(connection, held)
        for client in clients:
            values = {"filters": client.filters, "seen_at": func.clock_timestamp()}
            insertion = insert(relay_client).values(name=client.name, **values)
            connection.execute(insertion.on_conflict_do_update(index_elements=[relay_client.c.name], set_=values))
            gone = relay_position.c.client == client.name, relay_position.c.source.not_in(list(client.positions))
            connection.execute(delete(relay_position).where(*gone))
            if client.positions:
                rows = [
                    {"client": client.name, "source": name, "position": at} for name, at in client.positions.items()
                ]
                at = insert(relay_position).values(rows)
                key = [relay_position.c.client, relay_position.c.source]
                connection.execute(
                    at.on_conflict_do_update(index_elements=key, set_={"position": at.excluded.position})
                )


def forget(store: Store, held: Lease, unseen: timedelta) -> list[str]:
    """Forget clients that were not seen for so long; their names."""
    old = delete(relay_client).where(relay_client.c.seen_at < func.clock_timestamp() - unseen)
    with store.begin() as connection:
        leases.expect_held(connection, held)
        return list(connection.execute(old.returning(relay_client.c.name)).scalars())


def needed_ordinals(store: Store, source: str, unseen: timedelta) -> list[int]:
    """For each client, the last transaction of the source's log that it certainly has.

    A client that was not seen for so long needs nothing, whether or not a relay runs that forgets it.
    """
    on = (segment.c.source == relay_position.c.source) & (segment.c.number == _SEGMENT)
    ordinals = (
        select(segment.c.first_ordinal - 1)
        .join(relay_position, on)
        .join(relay_client, relay_client.c.name == relay_position.c.client)
        .where(relay_position.c.source == source, relay_client.c.seen_at >= func.clock_timestamp() - unseen)
    )
    with store.begin() as connection:
        return [int(ordinal) for ordinal in connection.execute(ordinals.distinct()).scalars()]
