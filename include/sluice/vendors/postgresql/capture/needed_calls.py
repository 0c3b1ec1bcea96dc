"""The calls of sweeps, dumps and drains, tried before anything is captured. Some servers refuse what all others
allow, and by then the queue would grow, and would not be published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import psycopg
from psycopg import sql

from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError
from sluice.vendors.postgresql.session import Connection, composed, connect, exported, read_as_of
from sluice.vendors.postgresql.statements.transaction_fate import flush

# The functions that somebody may have taken from everybody, by what calls them.
_IDENTITY = "pg_control_system, pg_control_checkpoint, pg_control_recovery"
_DURABLE = "pg_logical_emit_message"
_SNAPSHOT = "pg_current_snapshot, pg_export_snapshot"
_PLACE = "pg_current_wal_insert_lsn, pg_current_wal_flush_lsn"
# Their arguments are not the same in all versions.
_SIGNATURES = """
SELECT string_agg(oid::regprocedure::text, ', ' ORDER BY oid) FROM pg_proc
WHERE proname = ANY (string_to_array(%s, ', ')) AND pronamespace = 'pg_catalog'::regnamespace"""


def expect_allowed(info: ConnectionInfo, *, by_log: bool) -> None:
    """See that the server of a source allows our role all of it.

    Raises:
        ConfigError: SLC-262, it does not.
    """
    with connect(info, "try", autocommit=True) as session:
        tried: dict[str, Callable[[], object]] = {
            _IDENTITY: lambda: session.execute(composed("capture/queue/server")),
            _DURABLE: lambda: flush(session),
            _SNAPSHOT: lambda: _share(session, info),
        }
        if by_log:
            tried[_PLACE] = lambda: session.execute(composed("capture/log/written"))
        _expect_none_refused(session, tried)


def expect_allowed_on_slave(session: Connection) -> None:
    """See that the server of a slave allows it what makes a position durable. Raises ConfigError SLC-262."""
    _expect_none_refused(session, {_DURABLE: lambda: session.execute(composed("session/make_durable"))})


def _expect_none_refused(session: Connection, tried: Mapping[str, Callable[[], object]]) -> None:
    if not (refused := dict(_find_refused(session, tried))):
        return
    (functions,) = session.execute(_SIGNATURES, [", ".join(refused)]).fetchone() or ("",)
    role = sql.Identifier(session.info.user).as_string()
    raise ConfigError(
        262,
        f"the server refuses what sweeps, dumps or drains call: {'; '.join(refused.values())}",
        "nothing was made. If these functions were revoked from PUBLIC, the administrator of the server gives "
        f"them back: GRANT EXECUTE ON FUNCTION {functions} TO {role}; If the server itself refuses them, as clouds do "
        "where nothing decodes the WAL, let it be decoded there (rds.logical_replication = 1, "
        "cloudsql.logical_decoding = on, or wal_level = logical), and restart it",
    )


def _find_refused(session: Connection, tried: Mapping[str, Callable[[], object]]) -> Iterator[tuple[str, str]]:
    """The calls that fail, with what the server says: each kind of server refuses them by another error."""
    for functions, attempt in tried.items():
        try:
            attempt()
        except psycopg.Error as error:
            if session.closed or isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
                raise
            yield functions, error.diag.message_primary or str(error)


def _share(session: Connection, info: ConnectionInfo) -> None:
    """Read in one session as of the snapshot of another."""
    with session.transaction(force_rollback=True):
        session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        shared, _ = exported(session)
        with connect(info, "try") as other:
            other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            read_as_of(other, shared)
