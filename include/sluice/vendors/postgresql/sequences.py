"""Sequences: read on the master after a sweep's snapshot, moved on the slave with the rows that used them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import psycopg
from psycopg import sql

from sluice.config.mapper import Mapper
from sluice.model.names import TableName
from sluice.model.sequence import SequenceState, SequenceValue, next_value
from sluice.vendors.postgresql.catalog.definition import regclass
from sluice.vendors.postgresql.session import Connection, composed

_TRIES = 3
# A server parses a statement of some thousand branches by as many calls of itself, and its stack is limited.
_AT_ONCE = 250


def read(connection: Connection, parts: Mapping[str, sql.Composable]) -> list[SequenceValue]:
    """The last values of the sequences of watched tables.

    They know no transactions: read after a snapshot, none is behind a row that the snapshot shows. The session must not
    be in a transaction: a look at a sequence keeps others from altering it until the end of that (R9).
    """
    connection.execute("SET lock_timeout = '500ms'")
    for attempt in range(_TRIES):
        try:
            rows = connection.execute(composed("sequences/read", **parts)).fetchall()
            break
        except (psycopg.errors.UndefinedTable, psycopg.errors.InternalError):
            # One was dropped while we looked; the next look does not find it any more.
            if attempt == _TRIES - 1:
                raise
    return [
        SequenceValue(TableName(schema, table), column, TableName(owner, name), last, cycle)
        for schema, table, column, owner, name, last, cycle in rows
        if last is not None
    ]


def follow(connection: Connection, mapper: Mapper, values: Sequence[SequenceValue]) -> None:
    """Let the slave's sequences give out nothing that the master's have given out. One that is missing is none."""
    values = [one for one in values if not mapper.excludes(one.table)]
    if not values:
        return
    wanted = json.dumps([_wanted(number, value, mapper) for number, value in enumerate(values)])
    found = connection.execute(composed("sequences/write"), {"wanted": wanted}).fetchall()
    standings = _standings(connection, {TableName(schema, name): tuple(step) for _, schema, name, *step in found})
    went = set()
    for number, schema, name, *_ in found:
        sequence = TableName(schema, name)
        own = standings[sequence]
        if (last := next_value(own, values[number])) is not None:
            standings[sequence] = replace(own, last=last, called=True)
            went.add(sequence)
    for sequence in sorted(went):
        connection.execute("SELECT setval(%s::regclass, %s)", [regclass(sequence), standings[sequence].last])


def _standings(
    connection: Connection, sequences: Mapping[TableName, tuple[int, int, int]]
) -> dict[TableName, SequenceState]:
    """The states of sequences, given their increments, minima and maxima."""
    names = sorted(sequences)
    look = sql.SQL("SELECT {}::integer, last_value, is_called FROM {}")
    found = {}
    for begin in range(0, len(names), _AT_ONCE):
        looks = [
            look.format(sql.Literal(number), sql.Identifier(names[number].schema, names[number].table))
            for number in range(begin, min(begin + _AT_ONCE, len(names)))
        ]
        for number, last, called in connection.execute(sql.SQL(" UNION ALL ").join(looks)):
            found[names[number]] = SequenceState(last, called, *sequences[names[number]])
    return found


def _wanted(number: int, value: SequenceValue, mapper: Mapper) -> dict[str, object]:
    table, sequence = mapper.table(value.table), mapper.table(value.sequence)
    return {
        "number": number,
        "schema": table.schema,
        "table": table.table,
        "column": mapper.column(value.table, value.column),
        "sequence_schema": sequence.schema,
        "sequence": sequence.table,
    }
