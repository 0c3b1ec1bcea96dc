"""The settings and rights without which nothing can be read from a server's log."""

from __future__ import annotations

from collections.abc import Iterator

from psycopg import sql

from sluice import shell
from sluice.errors import ConfigError
from sluice.vendors.postgresql.capture.log.slot_server import SlotServer
from sluice.vendors.postgresql.session import Connection, composed

_OLDEST, _OLDEST_STANDBY = 15, 16
# The name of a slot that is never made.
_TRIED = "sluice_tries"


def expect_possible(at: SlotServer) -> None:
    """See that the servers and the role allow it. Raises ConfigError SLC-400."""
    missing = list(_missing(at.master(), _OLDEST, makes=not at.is_standby))
    if at.is_standby:
        missing += [f"of the standby, {one}" for one in _missing(at.open(), _OLDEST_STANDBY, makes=True)]
    if missing:
        raise ConfigError(
            400,
            f"changes cannot be captured from the server's log: {'; '.join(dict.fromkeys(missing))}",
            "nothing was changed; or take `capture: log` out of the configuration, then triggers capture them",
        )


def _missing(connection: Connection, oldest: int, *, makes: bool) -> Iterator[str]:
    row = connection.execute(composed("capture/log/server")).fetchone()
    assert row is not None
    level, free, version, replicates, publishes = row
    if level != "logical":
        yield (
            f"wal_level is {level}: type ALTER SYSTEM SET wal_level = logical, and restart the server; at Amazon set "
            "rds.logical_replication = 1 in the parameter group, at Google the flag cloudsql.logical_decoding, else "
            "wal_level"
        )
    if makes and free < 1:
        yield (
            "no replication slot is free: drop one that nobody needs, or let max_replication_slots be larger, by ALTER "
            "SYSTEM SET or at the provider, and restart the server"
        )
    if version < oldest * 10_000:
        yield f"the server is older than {oldest}"
    replicates = replicates or _may_replicate(connection)
    if not (replicates and publishes):
        lacks = ", ".join(
            right for right, there in (("REPLICATION", replicates), ("CREATE on the database", publishes)) if not there
        )
        yield f"the role lacks {lacks}: let an administrator run the script of {shell.sluice('grants', 'SOURCE')}"


def _may_replicate(connection: Connection) -> bool:
    """Whether the role may use slots. Clouds give that by memberships, so it is tried, once in a session."""
    told = "SELECT current_setting('sluice.may_replicate', true)"
    if connection.execute(told).fetchone() in ((None,), ("",)):
        connection.execute(composed("capture/log/may_replicate", slot=sql.Literal(_TRIED)))
    return connection.execute(told).fetchone() == ("yes",)
