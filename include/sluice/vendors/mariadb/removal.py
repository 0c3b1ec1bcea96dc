"""Taking a replication out of a slave: its position in one transaction, and then the tables, each by its own commit.

DDL commits here. So the fence is looked at first, and all that could refuse a table is asked before anything goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial

import pymysql

from sluice.connections import ConnectionInfo
from sluice.model.names import Pair, TableName
from sluice.vendors.mariadb import fence
from sluice.vendors.mariadb.errors import number_of, translated
from sluice.vendors.mariadb.session import (
    Connection,
    composed,
    connect,
    execute,
    hold_lock,
    our_tables,
    qualified,
    transaction,
)
from sluice.vendors.table_drops import drop, expect_free, staying

# Another table refers to one; without rights on that the server does not say which.
_REFERRED_TO = (1217, 1451, 3730)


def remove(
    info: ConnectionInfo,
    pair: Pair,
    schema: str,
    epoch: int,
    tables: Sequence[TableName] | None,
    before: Callable[[], None],
) -> list[str]:
    """See `sluice.vendors.registry.Vendor.remove`. Our tables go with the last replication into their database.

    Raises:
        SluiceError: SLC-387, a table that stays refers to one that is to go. Nothing was changed. SLC-652, one that is
            not shown to us does so; all the rest is removed.
    """
    parts, names = our_tables(schema), {"source": pair.source, "slave": pair.slave}
    with (
        translated(f"removing what {pair.slave} has of the replication"),
        closing(connect(info, f"remove {pair.slave}")) as session,
    ):
        hold_lock(session, pair)
        there = [name for name in tables or () if _is_table(session, name)]
        expect_free(there, partial(_referring, session))
        with transaction(session):
            fence.lock_fence(session, parts, pair, epoch)
            execute(session, composed("load/forget", **parts), names)
            execute(session, composed("ddl/forget", **parts), names)
            execute(session, composed("position/remove", **parts), names)
            before()
        kept = drop(there, partial(_dropped, session))
        gone = [f"table {name}" for name in there if name not in kept]
        ours = _dropped_ours(session, parts)
        if kept:
            raise staying(pair, kept, f"DROP TABLE {', '.join(map(qualified, kept))}")
    return [*gone, *([f"table {schema}.sluice_{name}" for name in parts] if ours else [f"the position of {pair}"])]


def _dropped(session: Connection, table: TableName) -> bool:
    try:
        execute(session, f"DROP TABLE {qualified(table)}")
    except pymysql.Error as error:
        if number_of(error) not in _REFERRED_TO:
            raise
        return False
    return True


def _is_table(session: Connection, name: TableName) -> bool:
    rows = execute(session, composed("catalog/kind"), {"schema": name.schema, "table": name.table})
    return bool(rows) and rows[0][0] == "BASE TABLE" and session.server.keeps(name.schema, name.table)


def _referring(session: Connection, name: TableName) -> list[TableName]:
    rows = execute(session, composed("catalog/references"), {"schema": name.schema, "table": name.table})
    return [TableName(*row) for row in rows]


def _dropped_ours(session: Connection, parts: dict[str, str]) -> bool:
    """Drop our tables if no replication has a position in them; a drain that begins meanwhile waits until we know."""
    execute(session, f"LOCK TABLES {', '.join(f'{one} WRITE' for one in parts.values())}")
    try:
        if execute(session, composed("position/left", **parts)) != [("0",)]:
            return False
        execute(session, f"DROP TABLE {', '.join(parts.values())}")
        return True
    finally:
        execute(session, "UNLOCK TABLES")
