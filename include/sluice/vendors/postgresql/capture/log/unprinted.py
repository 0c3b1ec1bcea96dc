"""Rows in the server's log that the server cannot print: beyond 1 GB of text it builds none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg import Error, errors

from sluice.errors import StrangeSource

# What `palloc` says, in English always. Source: PostgreSQL, src/backend/utils/mmgr/mcxt.c.
_TOO_LARGE = "invalid memory alloc request size"


@contextmanager
def expect_printed() -> Iterator[None]:
    """Read a slot. Each look decodes such a row again, and no look comes to what is behind it.

    Raises:
        StrangeSource: SLC-404, the server cannot print a row.
    """
    try:
        yield
    except (errors.ProgramLimitExceeded, errors.InternalError_) as error:
        if not _is_too_long(error):
            raise
        raise StrangeSource(
            404,
            "a change in the server's log cannot be read: the server prints no row beyond 1 GB, old and new values "
            f"together: {str(error.diag.message_primary or error).strip()}",
            "what was published stays in the change log, and what is behind that change cannot be read. Make the value "
            "shorter in its table, or take the table out of `tables`. Then trigger the DAG bootstrap with rebase, "
            "which makes the slot anew, and then initial_update for all slaves of this source",
        ) from error


def _is_too_long(error: Error) -> bool:
    return isinstance(error, errors.ProgramLimitExceeded) or _TOO_LARGE in str(error)
