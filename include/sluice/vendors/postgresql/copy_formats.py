"""The formats of COPY, by the names under which rows travel."""

from __future__ import annotations

from psycopg import sql

from sluice.vendors.protocol.read import TEXT, RowFormat

# Only between columns of one type, and only of types that every server writes and reads the same.
BINARY: RowFormat = "postgresql-binary"

_OPTIONS = {TEXT: sql.SQL("text"), BINARY: sql.SQL("binary")}


def copy_format(form: RowFormat) -> sql.SQL:
    """The option `FORMAT` of a COPY."""
    return _OPTIONS[form]
