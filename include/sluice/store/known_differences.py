"""Rows of slaves that are known to differ from their masters'.

What is known stays until these rows are known to be equal, whatever else is compared, or removed, meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import BigInteger, Column, Connection, DateTime, Table, Text, func, select
from sqlalchemy.dialects.postgresql import insert

from sluice.model.blocking_transaction import Touched
from sluice.model.names import Pair, TableName
from sluice.store.engine import Store
from sluice.store.tables import for_pair, metadata, point

_WHOLE = ""
_REPLACED = "replaced"
# `scope`: empty for all rows of the table; else which rows were compared, or the transaction that was removed.
differing = Table(
    "differing",
    metadata,
    *(Column(name, Text, primary_key=True) for name in ("source", "slave", "table", "scope")),
    # 0: nobody knows how many.
    Column("rows", BigInteger, nullable=False),
    # Where in the stream they differed: what was compared in front of that says nothing of it.
    Column("ordinal", BigInteger, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
)


def record_comparison(
    connection: Connection, report: int, pair: Pair, table: str, different: int, body: Mapping[str, Any]
) -> None:
    """Learn from a comparison of a table, in the transaction that records it.

    Args:
        report: the number of the point that was compared at.
        body: of the comparison, as the store has it: it says which rows were compared.
    """
    scope, ordinal = _scope(body), int(body.get("ordinal", 0))
    # A comparison of all rows takes the place of all others; a sample has other keys each time, and takes nothing back.
    if scope == _WHOLE or (not different and body.get("percent", 100) >= 100):
        gone = for_pair(differing, pair) & (differing.c.table == table) & (differing.c.ordinal <= ordinal)
        # A table that is emptied while it is compared was read before that.
        asked = select(point.c.asked).where(point.c.id == report).scalar_subquery()
        gone &= (differing.c.scope != _REPLACED) | (differing.c.at < asked)
        connection.execute(differing.delete().where(gone if scope == _WHOLE else gone & (differing.c.scope == scope)))
    if different:
        _put(connection, pair, table, scope, different, ordinal)


def record_removal(store: Store, pair: Pair, ordinal: int, touched: Iterable[Touched]) -> None:
    """A slave lacks a transaction of its master, which somebody removed: carried out later, it may undo newer changes.

    Args:
        touched: what it does to the tables that the slave is given.
    """
    with store.begin() as connection:
        for table in touched:
            if table.table:
                _put(connection, pair, table.table, f"transaction {ordinal}", sum(table.actions.values()), ordinal)


def doubt(store: Store, pair: Pair, ordinal: int, tables: Iterable[str]) -> None:
    """Mark tables that were emptied, rewritten or replaced on the slave: an unknown number of rows differs."""
    with store.begin() as connection:
        for table in tables:
            _put(connection, pair, table, _REPLACED, 0, ordinal)


def forget(connection: Connection, pair: Pair, table: TableName | None = None) -> None:
    """A slave is filled again, or a table of the master there."""
    which = for_pair(differing, pair)
    connection.execute(differing.delete().where(which if table is None else which & (differing.c.table == str(table))))


def _put(connection: Connection, pair: Pair, table: str, scope: str, rows: int, ordinal: int) -> None:
    key = {"source": pair.source, "slave": pair.slave, "table": table, "scope": scope}
    insertion = insert(differing).values(**key, rows=rows, ordinal=ordinal)
    again = {"rows": rows, "ordinal": ordinal, "at": func.clock_timestamp()}
    newer = differing.c.ordinal <= ordinal
    connection.execute(insertion.on_conflict_do_update(index_elements=list(key), set_=again, where=newer))


def _scope(body: Mapping[str, Any]) -> str:
    only, percent = body.get("only"), body.get("percent", 100)
    named = {
        "within": body.get("within"),
        "since": only and only["since"],
        "percent": percent if percent < 100 else None,
    }
    some = {name: value for name, value in named.items() if value}
    return json.dumps(some, sort_keys=True) if some else _WHOLE
