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
from sluice.relay.log_reader import segment_number
from sluice.relay.queue import ClientQueue
from sluice.store.activities import Activity


def figures(
    counts: ServerCounts, clients: Clients, feed: Feed, activity: Mapping[str, Mapping[TableName, Activity]]
) -> dict[str, Any]:
    """All figures but schemas, as plain values; times are seconds since 1970."""
    return {
        "server": {
            "started_at": counts.started_at,
            "connections": counts.connections,
            "connections_refused": counts.refused,
            "malformed_frames": counts.malformed,
            "wrong_secrets": counts.wrong_secrets,
            "events_seen": sum(table.ever.total for tables in activity.values() for table in tables.values()),
            "clients_connected": len(clients.connected),
            "clients_known": clients.known_count,
            "positions": {source: {"cursor": at, "segment": segment_number(at)} for source, at in feed.ends.items()},
            "troubles": dict(feed.troubles),
        },
        "clients": [_client(queue) for _, queue in sorted(clients.connected.items())],
        "tables": [
            {
                "source": source,
                "schema": table.schema,
                "table": table.table,
                "ever": asdict(totals.ever),
                "last_24_hours": asdict(totals.day),
                "last_hour": asdict(totals.hour),
            }
            for source, tables in activity.items()
            for table, totals in sorted(tables.items())
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
                {
                    "name": column.name,
                    "type": column.type,
                    "nullable": not column.not_null,
                    "key": column.name in layout.key_names,
                }
                for column in layout.columns
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
                "schema": wanted.schema,
                "table": wanted.table,
                "events": [str(kind.name).lower() for kind in type(wanted.kinds) if kind & wanted.kinds],
                "discard": wanted.discard.name.lower(),
                "limit": wanted.limit,
            }
            for wanted in queue.filters.values()
        ],
        "queue": queue.size,
        "queue_bytes": queue.bytes,
        "largest_queue": queue.largest,
        "served": queue.served,
        "discarded": queue.discarded,
        "last_events": [
            {
                "at": served.at,
                "delay_s": delay,
                "source": served.source,
                "schema": served.table.schema,
                "table": served.table.table,
                "event": served.kind,
                "position": served.position,
            }
            for served, delay in zip(last, delays, strict=True)
        ],
    }
