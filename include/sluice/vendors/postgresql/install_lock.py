"""One at a time makes our tables in a database, or brings them up to a newer version."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg

from sluice.errors import TransientError
from sluice.model.names import Resources, TableName
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.definition import identifier, regclass
from sluice.vendors.postgresql.session import Connection, composed, limit_lock_waits

# Longer than another job of ours needs the lock, but limited: a forgotten lock must not block us for ever.
_PATIENCE = "30s"


def bootstrap(connection: Connection, resources: Resources) -> None:
    """Let no other bootstrap of a prefix be at work until the transaction ends. Raises TransientError SLC-036."""
    state = TableName(resources.schema, resources.name("state"))
    alone(connection, state, f"sluice bootstrap {state}")


def alone(connection: Connection, table: TableName, name: str) -> None:
    """Lock an installation until the transaction ends.

    What decides is a lock of a table of ours, which nobody can take who has no right on it. Only where it is still to
    be made there is a lock by name, which anybody can take.

    Args:
        table: one that is made first of all, and belongs to our role if it is there.
        name: names the lock where that table is missing.

    Raises:
        TransientError: SLC-036, somebody holds the lock, and does not end.
    """
    limit_lock_waits(connection, _PATIENCE)
    try:
        with connection.transaction():
            if table not in relations.existing(connection, [table]):
                connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [name])
            # Others may have made it meanwhile.
            if table in relations.existing(connection, [table]):
                connection.execute(composed("ownership/alone", table=identifier(table)))
    except psycopg.errors.LockNotAvailable:
        holders = connection.execute(composed("ownership/holders"), {"table": regclass(table), "name": name})
        raise _lock_timeout(table, holders.fetchall()) from None
    limit_lock_waits(connection, None)


def _lock_timeout(table: TableName, holders: Sequence[tuple[int, str, str]]) -> TransientError:
    who = ", ".join(f"process {pid} of {user} ({application})" for pid, user, application in holders)
    return TransientError(
        36,
        f"{table}, and what belongs to it, cannot be made or brought up to date: {who or 'a session'} held its lock "
        f"for {_PATIENCE}",
        "nothing was changed, and it is tried again. A session of Sluice itself ends soon; look in pg_stat_activity "
        "what another one is, and end it by pg_terminate_backend",
    )
