"""Tables as the catalog has them, as far as capturing goes."""

from __future__ import annotations

from collections.abc import Iterable

import oracledb

from sluice import shell
from sluice.errors import Unwatchable
from sluice.model.names import TableName
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.errors import NO_RIGHT, code_of
from sluice.vendors.oracle.names import composed
from sluice.vendors.oracle.session import Row, execute

_LENGTH_IN_CHARACTERS = "C"


def table(session: oracledb.Connection, name: TableName) -> CapturedTable:
    """A table to capture. Virtual columns are not in it: every slave computes its own, or has none.

    Raises:
        Unwatchable: SLC-477, there is no such table, or none that can be watched.
    """
    values = {"schema": name.schema, "name": name.table}
    found = execute(session, composed("catalog/table"), values)
    if not found:
        raise missing(name, [TableName(*row) for row in execute(session, composed("catalog/spelled_alike"), values)])
    (relation, *obstacles) = found[0]
    expect_plain(name, *obstacles)
    if others := [str(row[0]) for row in execute(session, composed("catalog/unwatchable"), values)]:
        raise _unwatchable(name, f"it is {' and '.join(others)}")
    columns = [column_of(row) for row in execute(session, composed("catalog/columns"), values)]
    key = execute(session, composed("catalog/primary_key"), values)
    deferrable = any(row[1] == "DEFERRABLE" for row in key)
    plain = tuple(one for one in columns if not one.virtual)
    return CapturedTable(name, int(relation), plain, tuple(str(row[0]) for row in key), deferrable)


def described(session: oracledb.Connection, name: TableName) -> CapturedTable | None:
    """The same; None if there is no such table."""
    found = execute(session, composed("catalog/table"), {"schema": name.schema, "name": name.table})
    return table(session, name) if found else None


def eligible(session: oracledb.Connection, schemas: Iterable[str]) -> list[TableName]:
    """The tables of these schemas that wildcards may take."""
    return [
        TableName(*row)
        for schema in sorted(set(schemas))
        for row in execute(session, composed("catalog/eligible"), {"schema": schema})
    ]


def moves_rows(session: oracledb.Connection, name: TableName) -> bool:
    """Whether a command may bring the rows of a table back to what they were, unseen by triggers."""
    found = execute(session, composed("catalog/row_movement"), {"schema": name.schema, "name": name.table})
    return found == [("ENABLED",)]


def expect_seen_whole(session: oracledb.Connection, name: TableName) -> None:
    """See that whoever reads a table gets all of its rows with their values. Raises Unwatchable SLC-033.

    Who may not look at the policies of redaction is not told of them.
    """
    values = {"schema": name.schema, "name": name.table}
    hiding = execute(session, composed("catalog/policies"), values)
    changing: list[Row] = []
    try:
        changing = execute(session, composed("catalog/redactions"), values)
    except oracledb.DatabaseError as error:
        if code_of(error) not in NO_RIGHT:
            raise
    if hiding or changing:
        policy, right = (hiding[0][0], "ACCESS") if hiding else (changing[0][0], "REDACTION")
        raise Unwatchable(
            33,
            f"the policy {policy} of {name} may hide rows or values from the user {session.username}",
            f"nothing was changed; let a DBA grant it EXEMPT {right} POLICY, or set `exclude` of the table",
        )


def column_of(row: Row) -> OracleColumn:
    """A row of `catalog/columns`."""
    name, type_, owner, length, precision, scale, chars, used, nullable, virtual, hidden = row
    return OracleColumn(
        name=name,
        type=type_,
        # Types of the server itself have an owner there, too, as XMLTYPE does.
        type_owner=owner,
        length=length or 0,
        precision=precision,
        scale=scale,
        chars=chars or 0,
        by_char=used == _LENGTH_IN_CHARACTERS,
        not_null=nullable == "N",
        virtual=virtual == "YES",
        hidden=hidden == "YES",
    )


def expect_plain(name: TableName, temporary: str, nested: str, external: str) -> None:
    """See that a table has rows of its own that last. Raises Unwatchable SLC-477."""
    kinds = {"temporary": temporary == "Y", "the rows of a collection": nested == "YES", "external": external == "YES"}
    if found := [kind for kind, is_so in kinds.items() if is_so]:
        raise _unwatchable(name, f"it is {' and '.join(found)}")


def missing(name: TableName, alike: list[TableName]) -> Unwatchable:
    """The error for a table that is not there, with those whose names differ in their case."""
    others = ", ".join(f'"{one.schema}"."{one.table}"' for one in alike if one != name)
    return _unwatchable(name, f"there is none of this name that the user may read{', only ' if others else ''}{others}")


def _unwatchable(name: TableName, why: str) -> Unwatchable:
    return Unwatchable(
        477,
        f"{name} cannot be watched: {why}",
        "fix its name in the configuration, which is taken letter by letter; let a DBA run the script of "
        f"{shell.sluice('grants', 'SOURCE')} if it is there; or set `exclude` of the table",
    )
