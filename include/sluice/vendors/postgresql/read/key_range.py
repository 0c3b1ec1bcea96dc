"""Keys between others, as PostgreSQL compares them: a block of a range, on the master and on a slave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql

from sluice.model.key_range import KeyInterval
from sluice.vendors.postgresql.catalog.definition import listed
from sluice.vendors.protocol.read import Key, KeyRange


def between(columns: Sequence[str], within: KeyRange, last: Key | None = None) -> sql.Composable:
    """The condition for the rest of a range, or for its next rows up to a last key; texts get the columns' types.

    Args:
        columns: of the key, in its order.
    """
    asked = [
        sql.SQL("({}) {} ({})").format(
            listed(columns[: len(bound)]),
            sql.SQL(compared),
            sql.SQL(", ").join(map(sql.Literal, bound)),
        )
        for compared, bound in ((">=", within.first), (">", within.reached), ("<=", last or within.until))
        if bound is not None
    ]
    return sql.SQL(" AND ").join(asked) if asked else sql.SQL("true")


def among_ranges(columns: Sequence[str], ranges: Sequence[KeyInterval]) -> sql.Composable:
    """The condition for rows of any of these ranges; for all rows if there is none."""
    each = [
        sql.SQL("({})").format(between(columns, KeyRange(0, one.table, "", first=one.first, until=one.until)))
        for one in ranges
    ]
    return sql.SQL("({})").format(sql.SQL(" OR ").join(each)) if each else sql.SQL("true")


def among(columns: Sequence[str], wanted: Sequence[Key]) -> sql.Composable:
    """The condition for rows of these keys; texts get the columns' types."""
    names = list(map(sql.Identifier, columns))
    # No text here has NUL, and no statement takes one: a slave of another kind may have such a row.
    wanted = [key for key in wanted if not any("\0" in value for value in key)]
    if not wanted:
        return sql.SQL("false")
    if len(names) == 1:
        values = sql.SQL(", ").join(sql.Literal(value) for (value,) in wanted)
        return sql.SQL("({} IN ({}))").format(names[0], values)
    each = (
        sql.SQL(" AND ").join(
            sql.SQL("{} = {}").format(name, sql.Literal(value)) for name, value in zip(names, key, strict=True)
        )
        for key in wanted
    )
    return sql.SQL("({})").format(sql.SQL(" OR ").join(sql.SQL("({})").format(one) for one in each))


def keys(found: psycopg.Cursor[Any]) -> list[Key]:
    """The rows that were found, as texts of the server's own, none of them NULL."""
    return [tuple(value or "" for value in row) for row in texts(found)]


def texts(found: psycopg.Cursor[Any]) -> list[list[str | None]]:
    """The rows that were found, as texts of the server's own: no cast of a user's is in between."""
    rows, result = range(found.rowcount), found.pgresult
    if result is None:
        return []
    read = ([result.get_value(row, column) for column in range(result.nfields)] for row in rows)
    return [[None if value is None else value.decode() for value in row] for row in read]
