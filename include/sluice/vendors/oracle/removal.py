"""Taking a replication out of a slave: its position in one transaction, and then the tables, each by its own commit.

DDL commits here. So the fence is looked at first, and all that could refuse a table is asked before anything goes.

Source: SQL Language Reference, "DROP TABLE"; Database Error Messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial

import oracledb

from sluice.connections import ConnectionInfo
from sluice.model.names import Pair, TableName
from sluice.vendors.oracle import fence
from sluice.vendors.oracle.catalog.slave_tables import referring
from sluice.vendors.oracle.errors import REFERRED_TO, code_of, translated
from sluice.vendors.oracle.names import composed, qualified
from sluice.vendors.oracle.session import connect, execute, transaction
from sluice.vendors.table_drops import drop, expect_free, staying

_NOT_THERE, _BUSY = "ORA-00942", "ORA-00054"


def remove(
    info: ConnectionInfo,
    pair: Pair,
    schema: str,
    epoch: int,
    tables: Sequence[TableName] | None,
    before: Callable[[], None],
) -> list[str]:
    """See `sluice.vendors.registry.Vendor.remove`. Our tables go with the last replication into their schema.

    Raises:
        SluiceError: SLC-387, a table that stays refers to one that is to go. Nothing was changed. SLC-652, one that is
            not shown to us does so; all the rest is removed.
    """
    parts, names = fence.our_tables(schema), {"source": pair.source, "slave": pair.slave}
    with (
        translated(f"removing what {pair.slave} has of the replication"),
        closing(connect(info, f"remove {pair.slave}")) as session,
    ):
        there = [name for name in tables or () if _is_there(session, name)]
        expect_free(there, partial(referring, session))
        with transaction(session):
            fence.lock_fence(session, parts, pair, epoch)
            # Whoever loads holds a row, and is waited for, but not without end.
            execute(session, composed("position/holders", **parts), names)
            execute(session, composed("load/forget", **parts), names)
            fence.forget_command(session, parts, pair)
            execute(session, composed("position/remove", **parts), names)
            before()
        kept = drop(there, partial(_dropped, session))
        gone = [f"table {name}" for name in there if name not in kept]
        gone += _dropped_ours(session, pair, schema, parts)
    if kept:
        raise staying(pair, kept, "; ".join(map(_dropping, kept)))
    return gone


def _is_there(session: oracledb.Connection, name: TableName) -> bool:
    return bool(execute(session, composed("catalog/table"), {"schema": name.schema, "name": name.table}))


def _dropped(session: oracledb.Connection, table: TableName) -> bool:
    try:
        execute(session, _dropping(table))
    except oracledb.DatabaseError as error:
        if code_of(error) != REFERRED_TO:
            raise
        return False
    return True


def _dropping(table: TableName) -> str:
    return composed("position/drop_table", table=qualified(table))


def _dropped_ours(session: oracledb.Connection, pair: Pair, schema: str, parts: dict[str, str]) -> list[str]:
    """Drop our tables if no replication has a position in them.

    A drop commits, and with it goes the lock that keeps positions from being begun. So the table of positions goes
    first: who begins one meanwhile makes all of them anew.
    """
    with transaction(session):
        execute(session, composed("position/hold", **parts))
        ((count,),) = execute(session, composed("position/left", **parts))
        if int(count):
            return [f"the position of {pair}"]
        for one in fence.TABLES:
            try:
                execute(session, composed("position/drop", table=parts[one]))
            except oracledb.DatabaseError as error:
                if code_of(error) == _BUSY and one == fence.TABLES[0]:
                    # Somebody begins a position in that moment.
                    return [f"the position of {pair}"]
                if code_of(error) != _NOT_THERE:
                    raise
    return [f"table {schema}.{fence.name_of(one)}" for one in fence.TABLES]
