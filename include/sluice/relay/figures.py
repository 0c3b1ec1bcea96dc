"""The figures of a relay: the server, its clients, the use of tables, and schemas. They have no values of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import pairwise
from typing import Any

from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.relay.clients import Clients
from sluice.relay.counts import ServerCounts
from sluice.relay.feed import Feed
from sluice.relay.log_reader import segment_of
from sluice.relay.queue import ClientQueue
from sluice.store.activities import Activity


def figures(
    counts: ServerCounts, clients: Clients, feed: Feed, activity: Mapping[str, Mapping[TableName, Activity]]
) -> dict[str, Any]:
    """All of them but schemas, as plain values; times are seconds since 1970."""
    return {
        "server": {
            "started_at": counts.started_at,
            "connections": counts.connections,
            "connections_refused": counts.refused,
            "malformed_frames": counts.malformed,
            "wrong_secrets": counts.wrong_secrets,
            "events_seen": sum(one.ever.total for tables in activity.values() for one in tables.values()),
            "clients_connected": len(clients.connected),
            "clients_known": clients.known,
            "positions": {source: {"cursor": at, "segment": segment_of(at)} for source, at in feed.ends.items()},
            "troubles": dict(feed.troubles),
        },
        "clients": [_client(queue) for _, queue in sorted(clients.connected.items())],
        "tables": [
            {
                "source": source,
                "schema": table.schema,
                "table": table.table,
                "ever": asdict(one.ever),
                "last_24_hours": asdict(one.day),
                "last_hour": asdict(one.hour),
            }
            for source, tables in activity.items()
            for table, one in sorted(tables.items())
        ],
    }


def schemas(layouts: Mapping[str, list[Layout]]) -> list[dict[str, Any]]:
    """The newest columns of each table of each source."""
    newest = {(source, layout.name): layout for source, of_it in layouts.items() for layout in of_it}
    return [
        {
            "source": source,
            "schema": name.schema,
            "table": name.table,
            "columns": [
                {"name": one.name, "type": one.type, "nullable": not one.not_null, "key": one.name in layout.key_names}
                for one in layout.columns
            ],
        }
        for (source, name), layout in sorted(newest.items(), key=lambda entry: entry[0])
    ]


def _client(queue: ClientQueue) -> dict[str, Any]:
    last = list(queue.last)
    delays = [None, *(later.at - earlier.at for earlier, later in pairwise(last))][: len(last)]
    return {
        "name": queue.name,
        "filters": [
            {
                "schema": one.schema,
                "table": one.table,
                "events": [str(kind.name).lower() for kind in type(one.kinds) if kind & one.kinds],
                "discard": one.discard.name.lower(),
                "limit": one.limit,
            }
            for one in queue.filters.values()
        ],
        "queue": queue.waiting,
        "queue_bytes": queue.bytes,
        "largest_queue": queue.largest,
        "served": queue.served,
        "discarded": queue.discarded,
        "last_events": [
            {
                "at": one.at,
                "delay_s": delay,
                "source": one.source,
                "schema": one.table.schema,
                "table": one.table.table,
                "event": one.kind,
                "position": one.position,
            }
            for one, delay in zip(last, delays, strict=True)
        ],
    }
