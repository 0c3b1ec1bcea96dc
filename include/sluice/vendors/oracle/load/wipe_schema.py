"""Wiping out the user's schema of a slave before it is filled: what that takes, and taking it.

Each DROP commits, so each is in a transaction apart while the session's own holds the fence (R6): who takes over waits
for it. An update that is tried again drops what is left. What Sluice has there stays. Indexes and triggers of a table
that goes go with it, whatever their switches say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import NamedTuple

import oracledb

from sluice.config.models import WipeOut
from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.names import TableName
from sluice.vendors.oracle import fence
from sluice.vendors.oracle.catalog.slave_tables import referring
from sluice.vendors.oracle.errors import NO_RIGHT, REFERRED_TO, code_of
from sluice.vendors.oracle.names import composed, literal, qualified, quoted
from sluice.vendors.oracle.session import execute
from sluice.vendors.table_drops import drop, expect_free

# The switches by the types of the catalog, in the order in which these go: what uses others goes first.
_SWITCHES = {
    "TRIGGER": "triggers",
    "MATERIALIZED VIEW": "views",
    "VIEW": "views",
    "SYNONYM": "synonyms",
    "PACKAGE": "packages",
    "PROCEDURE": "procedures",
    "FUNCTION": "functions",
    "SEQUENCE": "sequences",
    "INDEX": "indexes",
    "TABLE": "tables",
}
_ORDER = list(_SWITCHES)
# It went with something else.
_GONE = ("ORA-00942", "ORA-01418", "ORA-04043", "ORA-04080", "ORA-12003")


Held = AbstractContextManager[None]


class Dropped(NamedTuple):
    """Something that goes, by its type and its place."""

    kind: str
    name: TableName

    def __str__(self) -> str:
        return f"{self.kind.lower()} {self.name}"


def wiped(session: oracledb.Connection, wanted: WipeOut, schema: str) -> list[Dropped]:
    """What goes, in its order; nothing is changed.

    Args:
        schema: of our tables, which is the connection's user.

    Raises:
        SluiceError: SLC-214, it is another schema; SLC-215, others are connected, which is not to be, or nobody may
            tell; a table that stays refers to one that goes.
    """
    if wanted.schema_ != schema:
        raise SluiceError(
            214,
            f"the schema {wanted.schema_} cannot be wiped out by the user {schema}",
            "nothing was changed; set `schema` in `wipe_out` to the user of the connection, in capitals as in the "
            "catalog, or take `wipe_out` out",
        )
    _expect_alone(session, wanted)
    ours = set(map(fence.name_of, fence.TABLES))
    found = [
        Dropped(str(kind), TableName(schema, str(name)))
        for kind, name in execute(session, composed("load/wipeable"), {"schema": schema})
        if _SWITCHES[kind] in wanted.kinds and name not in ours
    ]
    tables = [one.name for one in found if one.kind == "TABLE"]
    expect_free(tables, partial(referring, session), lambda table, other: _referred_to(table, f"{other}, which stays,"))
    return sorted(found, key=lambda one: (_ORDER.index(one.kind), one.name))


def wipe_out(session: oracledb.Connection, gone: Sequence[Dropped], held: Callable[[], Held]) -> None:
    """Drop what `wiped` gave.

    Args:
        held: holds the fence in the session's transaction during each DROP; it raises if another job took over.

    Raises:
        SluiceError: SLC-215, a table that is not shown to us refers to one that goes; all the rest is dropped.
    """
    for one in gone:
        if one.kind != "TABLE":
            _dropped(session, one, held)
    by_name = {one.name: one for one in gone if one.kind == "TABLE"}
    kept = drop(list(by_name), lambda name: _dropped(session, by_name[name], held))
    if kept:
        # They refer to each other in a circle. Only what the user has goes: no table of others loses a constraint.
        for table, key in execute(session, composed("load/foreign_keys")):
            if (name := TableName(kept[0].schema, str(table))) in kept:
                statement = composed("load/drop_key", table=qualified(name), key=quoted(str(key)))
                _execute_apart(session, statement, held)
        kept = drop(kept, lambda name: _dropped(session, by_name[name], held))
    if kept:
        raise _referred_to(kept[0], "a table that the user is not shown")


def _dropped(session: oracledb.Connection, one: Dropped, held: Callable[[], Held]) -> bool:
    """Drop it; False if a foreign key refers to it."""
    event("wipes out", kind=one.kind.lower(), name=one.name)
    try:
        _execute_apart(session, composed("load/drop", kind=one.kind, name=qualified(one.name)), held)
    except oracledb.DatabaseError as error:
        if code_of(error) == REFERRED_TO:
            return False
        if code_of(error) not in _GONE:
            raise
    return True


def _execute_apart(session: oracledb.Connection, statement: str, held: Callable[[], Held]) -> None:
    with held():
        execute(session, composed("load/apart", statement=literal(statement)))


def _expect_alone(session: oracledb.Connection, wanted: WipeOut) -> None:
    try:
        rows = execute(session, composed("load/connected"), {"schema": wanted.schema_})
    except oracledb.DatabaseError as error:
        if code_of(error) not in NO_RIGHT:
            raise
        who = (
            "perhaps, since the user may not look (SELECT ON sys.v_$session)" if wanted.if_connected == "refuse" else ""
        )
    else:
        who = ", ".join(f"{program or 'unnamed'} (session {number})" for number, program in rows)
    if who and wanted.if_connected == "refuse":
        raise SluiceError(
            215,
            f"others are connected as {wanted.schema_}, whose schema is to be wiped out: {who}",
            "nothing was changed; end their sessions, or let a DBA grant that right; or set `if_connected: warn` in "
            "`wipe_out`",
        )
    if who:
        event("others are connected", who=who)


def _referred_to(table: TableName, who: str) -> SluiceError:
    return SluiceError(
        215,
        f"{table} cannot be dropped, so {table.schema} cannot be wiped out: a foreign key of {who} refers to it",
        "drop that foreign key, or set `tables: false` in `wipe_out`; each run drops what is left",
    )
