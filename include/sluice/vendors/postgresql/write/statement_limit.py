"""How long a statement may take that writes changes to a slave (R8).

A check or a trigger of the slave may take a second for each row. The limit makes that an error which names the table.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError, SluiceError, TooSlow
from sluice.model.names import TableName
from sluice.vendors.postgresql.session import Connection, keep, kept

# In the extra of a connection, in seconds: for a statement, and for each row that it writes.
NAME = "write_timeout"
_DEFAULT = "300+0.1"
_FORM = re.compile(r"(\d{1,7})(?:\+(\d{1,5}(?:\.\d{1,3})?))?", re.ASCII)
# The server counts milliseconds in 31 bits.
_MOST_S = 2_000_000
# To set a limit is a question to the server.
_ALIKE = 1.1


@dataclass(frozen=True)
class StatementLimit:
    """The seconds that a statement may take, and those for each of its rows; 0 seconds are no limit."""

    base_s: float
    row_s: float

    def seconds(self, rows: int) -> float:
        """The limit of a statement that writes so many rows; 0 is none."""
        return min(self.base_s + rows * self.row_s, _MOST_S) if self.base_s else 0

    def as_text(self, rows: int) -> str:
        """The same as the server's settings have it."""
        return f"{round(self.seconds(rows) * 1000)}ms"

    def is_over(self, begun: float, rows: int) -> bool:
        """Whether rows that are written one by one took too long, since a moment of the monotonic clock."""
        return bool(self.base_s) and time.monotonic() - begun > self.seconds(rows)


def limit_of(info: ConnectionInfo) -> StatementLimit:
    """The limit of a slave. Raises ConfigError SLC-017, it is none."""
    given = str(info.extra.get(NAME, _DEFAULT))
    parts = _FORM.fullmatch(given)
    if not parts or int(parts[1]) > _MOST_S:
        raise ConfigError(
            17,
            f"the connection to {info.host} has `{NAME}` {given!r}",
            f"nothing was written; let it be seconds up to {_MOST_S}, with those for each row: {_DEFAULT}; or 0",
        )
    return StatementLimit(float(parts[1]), float(parts[2] or _DEFAULT.partition("+")[2]))


class TableLimits:
    """The limits of the statements of one session, which writes table after table.

    Attributes:
        limit: what they follow from.
    """

    def __init__(self, session: Connection, limit: StatementLimit) -> None:
        self.limit = limit
        self._session = session
        self._table: TableName | None = None
        self._since = self._seconds = 0.0

    @contextmanager
    def hold(self, rows: int) -> Iterator[None]:
        """Let no statement of the transaction take longer until the block ends.

        Args:
            rows: so many at most one of them writes.

        Raises:
            TooSlow: SLC-688, one did.
        """
        self._table, self._since, self._seconds = None, time.monotonic(), self.limit.seconds(rows)
        try:
            with kept(self._session, statement_timeout=self.limit.as_text(rows)):
                yield
        except TooSlow as error:
            error.table = self._table
            raise
        except SluiceError as error:
            # Somebody else may have cancelled it.
            is_late = self._seconds and time.monotonic() - self._since >= self._seconds
            if not (is_late and isinstance(error.__cause__, psycopg.errors.QueryCanceled)):
                raise
            late = too_slow(error.fact, self._seconds)
            late.table = self._table
            raise late from error

    def begin_again(self) -> None:
        """A rollback has set the limit back."""
        self._seconds = 0.0

    def begin_table(self, table: TableName, rows: int) -> None:
        """The statements that follow write so many rows of a table. A limit that hardly differs is left as it is."""
        self._table, self._since = table, time.monotonic()
        seconds = self.limit.seconds(rows)
        if not seconds <= self._seconds <= _ALIKE * seconds:
            keep(self._session, statement_timeout=self.limit.as_text(rows))
            self._seconds = seconds


def too_slow(fact: str, seconds: float) -> TooSlow:
    """The error for a statement, or for rows that are written one by one.

    Args:
        fact: what was done, with the table.
        seconds: the limit.
    """
    return TooSlow(
        688,
        f"{fact}, which took longer than {seconds:g} s",
        "look there for what takes so long (a check, a trigger, an index that is missing, a lock of another "
        f"session), or set `{NAME}` in the extra of the slave's connection to more seconds, or to 0; then unpause",
    )
