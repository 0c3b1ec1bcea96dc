"""What a PostgreSQL server says of its publisher, and whether it went on from where another one ended (R2).

An incarnation is a text of three parts: the installation, the server, and its timeline. A promotion, or a restore to an
earlier moment, begins a timeline, with a higher number. Where it begins none, as Aurora may not, and as a copy of the
volumes does not, the segment on the server's record alone tells it: a server without the listed segment is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from psycopg import sql

from sluice.vendors.postgresql.session import Connection, composed
from sluice.vendors.protocol.sweep import SourceState


@dataclass(frozen=True)
class ServerState(SourceState):
    """See `sluice.vendors.protocol.sweep.SourceState`."""

    def succeeds(self, incarnation: str) -> bool:
        """See `SourceState`."""
        return _is_later(self.incarnation, incarnation)

    def is_succeeded_by(self, incarnation: str) -> bool:
        """See `SourceState`."""
        return _is_later(incarnation, self.incarnation)


def server_state(connection: Connection, parts: Mapping[str, sql.Composable]) -> ServerState | None:
    """The record of the publisher, and how far the server is; None before there is one."""
    with connection.transaction():
        row = connection.execute(composed("capture/queue/fence", **parts)).fetchone()
        reached = connection.execute(composed("capture/queue/reached", **parts)).fetchone()
    if row is None or reached is None:
        return None
    incarnation, segment, sha256, epoch = row
    next_transaction, last_key, place = reached
    # As a number: the text is the server's, and would speak on our pages.
    major, minor = divmod(connection.info.server_version, 10_000)
    return ServerState(
        incarnation,
        segment,
        sha256,
        epoch,
        installation=incarnation.partition(":")[0],
        next_transaction=next_transaction,
        last_key=last_key,
        place=place,
        version=f"PostgreSQL {major}.{minor}",
    )


def _is_later(one: str, other: str) -> bool:
    """Whether one is of the same installation and server as the other, and of a later timeline."""
    (origin, timeline), (before, earlier) = _parts(one), _parts(other)
    return bool(origin) and origin == before and timeline > earlier


def _parts(incarnation: str) -> tuple[str, int]:
    """The installation and server, and the timeline; nothing of a text that is none of ours."""
    origin, _, timeline = incarnation.rpartition(":")
    return (origin, int(timeline)) if timeline.isdecimal() and timeline.isascii() else ("", 0)
