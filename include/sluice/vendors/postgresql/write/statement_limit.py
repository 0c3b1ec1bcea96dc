"""How long a statement may take that writes changes to a slave (R8).

A check or a trigger of the slave may take a second for each row, and a batch has tens of thousands: without a limit
nobody is told of it, and which table it is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError, SluiceError
from sluice.vendors.postgresql.session import Connection, kept

# In the extra of a connection, in seconds.
NAME = "write_timeout"
_DEFAULT_S = 3600


def limit_of(info: ConnectionInfo) -> int:
    """The limit in seconds; 0 is none. Raises ConfigError SLC-017, it is no such number."""
    given = str(info.extra.get(NAME, _DEFAULT_S))
    # The server counts milliseconds in 31 bits.
    if not (given.isascii() and given.isdecimal() and len(given) < 8 and int(given) <= 2_000_000):
        raise ConfigError(
            17,
            f"the connection to {info.host} has `{NAME}` {given!r}",
            "nothing was written; let it be a number of seconds up to 2000000, or 0 for no limit",
        )
    return int(given)


@contextmanager
def limit_statements(session: Connection, seconds: int) -> Iterator[None]:
    """Let no statement of the transaction take longer until the block ends.

    Raises:
        SluiceError: SLC-688, one did.
    """
    begun = time.monotonic()
    try:
        with kept(session, statement_timeout=f"{seconds}s"):
            yield
    except SluiceError as error:
        # Somebody else may have cancelled it before.
        if not isinstance(error.__cause__, psycopg.errors.QueryCanceled) or time.monotonic() - begun < seconds:
            raise
        raise SluiceError(
            688,
            f"{error.fact}, which took longer than {seconds} s",
            "look there for what takes so long (a check, a trigger, an index that is missing, a lock of another "
            f"session), or set `{NAME}` in the extra of the slave's connection to more seconds, or to 0; then unpause",
        ) from error
