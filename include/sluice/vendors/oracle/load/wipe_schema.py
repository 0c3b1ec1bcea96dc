"""Wiping out the user's schema of a slave before it is filled: what that takes, and taking it.

Each DROP commits, so the fence is looked at before each (R6), and an update that is tried again drops what is left.
What Sluice has there stays. Indexes and triggers of a table that goes go with it, whatever their switches say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import oracledb

from sluice.config.models import WipeOut
from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.names import TableName
from sluice.vendors.oracle import fence
from sluice.vendors.oracle.errors import NO_RIGHT, code_of
from sluice.vendors.oracle.names import composed, qualified
from sluice.vendors.oracle.session import execute

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
        SluiceError: SLC-590, it is another schema; SLC-591, others are connected, which is not to be, or nobody may
            tell; SLC-592, a table that stays refers to one that goes.
    """
    if wanted.schema_ != schema:
        raise SluiceError(
            590,
            f"the schema {wanted.schema_} cannot be wiped out by the user {schema}",
            "nothing was changed; set `schema` in `wipe_out` to the user of the connection, in capitals as in the "
            "catalog, or take `wipe_out` out",
        )
    _expect_alone(session, wanted)
    ours = set(map(fence.name_of, fence.TABLES))
    found = [
        Dropped(str(kind), TableName(schema, str(name)))
        for kind, name in execute(session, composed("load/wipeable"))
        if _SWITCHES[kind] in wanted.kinds and name not in ours
    ]
    _expect_free(session, [one.name for one in found if one.kind == "TABLE"])
    return sorted(found, key=lambda one: (_ORDER.index(one.kind), one.name))


def wipe_out(session: oracledb.Connection, gone: Sequence[Dropped], expect_ours: Callable[[], None]) -> None:
    """Drop what `wiped` gave.

    Args:
        expect_ours: called before each, in a transaction of its own; it raises if another job took over.
    """
    for one in gone:
        expect_ours()
        event("wipes out", kind=one.kind.lower(), name=one.name)
        where = qualified(one.name)
        statement = (
            composed("load/drop_table", name=where)
            if one.kind == "TABLE"
            else composed("load/drop", kind=one.kind, name=where)
        )
        try:
            execute(session, statement)
        except oracledb.DatabaseError as error:
            if code_of(error) not in _GONE:
                raise


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
            591,
            f"others are connected as {wanted.schema_}, whose schema is to be wiped out: {who}",
            "nothing was changed; end their sessions, or let a DBA grant that right; or set `if_connected: warn` in "
            "`wipe_out`",
        )
    if who:
        event("others are connected", who=who)


def _expect_free(session: oracledb.Connection, tables: Sequence[TableName]) -> None:
    for name in tables:
        rows = execute(session, composed("catalog/references"), {"schema": name.schema, "name": name.table})
        if others := [other for row in rows if (other := TableName(*row)) not in tables]:
            raise SluiceError(
                592,
                f"the schema {name.schema} cannot be wiped out: a foreign key of {others[0]}, which stays, refers to "
                f"{name.table}",
                "nothing was changed; drop that foreign key, or set `tables: false` in `wipe_out`",
            )
