"""The bytes of a row that stand for its text in a checksum: they tell apart what the text does, and are sooner made.

A value of a known type is written in its binary form, which the server sends to clients. Any other one, and one of a
column whose types are not alike on both sides, is written as its text. In front of them is said which ones are NULL,
and where one ends can be told, so no two rows have the same bytes. Bytes that differ where texts do not (kinds of NaN)
cost reading the rows of a range, and are no difference.

Source: PostgreSQL manual, "pg_type" (`typsend`).
"""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import sql

# The functions that make the binary form, by types. The first ones give one length; a numeric begins with its own.
_ENDING = {
    "bool": "boolsend",
    "int2": "int2send",
    "int4": "int4send",
    "int8": "int8send",
    "float4": "float4send",
    "float8": "float8send",
    "date": "date_send",
    "time": "time_send",
    "timestamp": "timestamp_send",
    "timestamptz": "timestamptz_send",
    "uuid": "uuid_send",
    "numeric": "numeric_send",
}
_TEXT, _BYTES = "textsend", "byteasend"
_KNOWN = {**_ENDING, "text": _TEXT, "varchar": _TEXT, "bytea": _BYTES}
# Of a function of the server.
_MOST_ARGUMENTS = 100


def forms(ours: Sequence[str | None], theirs: Sequence[str | None]) -> list[str]:
    """For each column the function that makes its bytes on both sides; empty where its text is taken.

    Args:
        ours, theirs: the names of the columns' types, as far as they are the server's own.
    """
    pairs = [[_KNOWN.get(one or "", "") for one in pair] for pair in zip(ours, theirs, strict=True)]
    return [one if one == other else "" for one, other in pairs]


def image(columns: Sequence[str], made_by: Sequence[str]) -> sql.Composable:
    """The expression for the bytes of a row, which is never NULL.

    Args:
        columns: their names.
        made_by: what `forms` gave for them.
    """
    # Short ones first: what is joined is copied.
    order = sorted(range(len(columns)), key=lambda place: made_by[place] not in _ENDING.values())
    named = [(sql.Identifier(columns[place]), made_by[place]) for place in order]
    values = [_value(column, form, last=column is named[-1][0]) for column, form in named]
    # The one that may be long is copied once.
    return _joined([_joined([_nulls([column for column, _ in named]), *values[:-1]]), values[-1]])


def _value(column: sql.Identifier, made_by: str, *, last: bool) -> sql.Composable:
    made = sql.SQL("{}({})").format(sql.SQL(made_by), column)
    if made_by == _BYTES and not last:
        made = sql.SQL("int4send(octet_length({})) || {}").format(column, made)
    elif not made_by:
        # A record of one value: its text comes from the type's own function, and from no cast that somebody made.
        made = sql.SQL("textsend(ROW({})::text)").format(column)
    if made_by in ("", _TEXT) and not last:
        # No text has a zero byte.
        made = sql.SQL("{} || '\\x00'::bytea").format(made)
    return sql.SQL("coalesce({}, '\\x'::bytea)").format(made)


def _nulls(columns: Sequence[sql.Identifier]) -> sql.Composable:
    """One zero byte if no value is NULL, and a digit for each column if one is."""
    parts = [columns[at : at + _MOST_ARGUMENTS] for at in range(0, len(columns), _MOST_ARGUMENTS)]
    counted = sql.SQL(" + ").join(sql.SQL("num_nulls({})").format(sql.SQL(", ").join(some)) for some in parts)
    digits = [
        sql.SQL("textsend(concat({}))").format(sql.SQL(", ").join(sql.SQL("num_nulls({})").format(one) for one in some))
        for some in parts
    ]
    return sql.SQL("CASE {} WHEN 0 THEN '\\x00'::bytea ELSE {} END").format(counted, sql.SQL(" || ").join(digits))


def _joined(parts: Sequence[sql.Composable]) -> sql.Composable:
    """All in a row, in pairs of pairs, so that no byte is copied more often than the logarithm of their number."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return sql.SQL("({} || {})").format(_joined(parts[:half]), _joined(parts[half:]))
