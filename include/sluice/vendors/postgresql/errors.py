"""What errors of PostgreSQL mean to us."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from sluice import shell
from sluice.errors import AGAIN, VALUES_ENV, LockTimeout, SluiceError, TransientError, UnclassifiedError

# Of a server that said nothing at all.
_UNREACHABLE = "08006"

# Classes of errors about values: data that are none, and constraints. What the latter quote are names.
_TELLING, _NAMING = ("22", "23"), "23"
# Servers quote in the manner of their language.
_COPIED = re.compile(r"COPY .+, line \d+, column (.+?)(?:: |$)", re.MULTILINE)
_QUOTED = re.compile(r"""["'«„\u2018\u201c].*["'»\u2019\u201c\u201d]""", re.DOTALL)

# SQLSTATE class or code -> (error code, transient?, hint). Source: PostgreSQL manual, appendix "Error Codes".
_STATES: dict[str, tuple[int, type[SluiceError], str]] = {
    "08": (30, TransientError, f"start the database, or fix the way to it; nothing is lost, {AGAIN}"),
    "40": (34, TransientError, AGAIN),
    "53": (658, TransientError, f"the server is out of connections, memory or disk; free some, {AGAIN}"),
    "55P03": (
        36,
        LockTimeout,
        f"another session holds the lock; {AGAIN}. Look in pg_stat_activity what that session does, and end it by "
        "pg_terminate_backend if it was forgotten",
    ),
    "57P": (30, TransientError, f"the server is starting or stopping; {AGAIN}"),
    "57014": (34, TransientError, f"the statement was cancelled; {AGAIN}"),
    "22P02": (
        73,
        SluiceError,
        "if the value is one that the master's type has got since (`ALTER TYPE ... ADD VALUE` is not carried), run "
        "that here, too, and unpause; if a column was altered, alter it back, or fill the slave with initial_update",
    ),
    "22P05": (
        28,
        UnclassifiedError,
        "the encoding of that database has no such character: make a database with ENCODING 'UTF8', let the connection "
        "lead to it, and fill it with initial_update; or change the value on the master",
    ),
    **dict.fromkeys(
        ("23502", "23514", "23P01"),
        (
            72,
            UnclassifiedError,
            "the row fits the master, and not a constraint of the table there: take it away (ALTER TABLE ... DROP "
            "CONSTRAINT, or ALTER COLUMN ... DROP NOT NULL), or let it hold for rows of the master, too; then unpause",
        ),
    ),
    "25006": (
        38,
        SluiceError,
        "point the connection at the primary; if it is there, a setting is in the way: see `{check}`",
    ),
    "28": (
        31,
        SluiceError,
        "fix login and password of the Airflow connection; if the server misses encryption or a certificate, set "
        "`sslmode`, or `sslcert` and `sslkey`, in its extra",
    ),
    "3D000": (31, SluiceError, "fix the database name (schema) of the Airflow connection"),
    "3F000": (3, SluiceError, "create the schema, or fix `schema` in the configuration"),
    "42501": (
        33,
        SluiceError,
        "grant the role what is missing. `{grants_source}` prints a script that does, with the "
        "name of the source; the database's administrator runs it. For a slave: "
        "`{grants_slave}`",
    ),
}


@contextmanager
def translated(doing: str, named: Callable[[str], str] = str) -> Iterator[None]:
    """Turn a driver's error into one of ours, with its class: transient or terminal.

    Args:
        named: what people call a column of the statement.
    """
    try:
        yield
    except psycopg.Error as error:
        raise explained(error, doing, named=named) from error


def explained(
    error: psycopg.Error, doing: str, state: str | None = None, named: Callable[[str], str] = str
) -> SluiceError:
    """The SluiceError for a driver's error, by the longest matching SQLSTATE prefix.

    Args:
        state: the SQLSTATE, where it is known and the error bears none.
        named: see `translated`.
    """
    state = error.sqlstate or state or _UNREACHABLE
    message = error.diag.message_primary or "; ".join(filter(None, map(str.strip, str(error).splitlines())))
    if not state.startswith(_TELLING) or os.environ.get(VALUES_ENV):
        if error.diag.message_detail:
            message = f"{message} ({error.diag.message_detail})"
    elif not state.startswith(_NAMING):
        message = _QUOTED.sub('"..."', message)
    if column := _copied_column(error):
        message = f"{message} (column {named(column)})"
    for length in (5, 3, 2):
        if known := _STATES.get(state[:length]):
            code, kind, hint = known
            return kind(code, f"{doing}: {message}", hint.format(**_commands()))
    return UnclassifiedError(
        39,
        f"{doing}: {message} [SQLSTATE {state}]",
        "fix the cause; a slave that was stopped goes on when its drain DAG is unpaused",
    )


def _copied_column(error: psycopg.Error) -> str:
    """The column that a COPY could not take; empty if that is not what failed. What follows its name may be a value."""
    found = _COPIED.match(error.diag.context or "")
    return found[1] if found else ""


def _commands() -> dict[str, str]:
    """The commands in hints; tasks of several deployments may follow each other in one process."""
    return {
        "check": shell.check(),
        "grants_source": shell.sluice("grants", "SOURCE"),
        "grants_slave": shell.sluice("grants", "SLAVE", "--slave"),
    }
