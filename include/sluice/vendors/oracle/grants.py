"""The rights of the user of a source, or of a slave: scripts that give them and no more, which a DBA runs; and
those that are missing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import oracledb

from sluice.connections import ConnectionInfo
from sluice.model.names import TableName
from sluice.vendors.oracle.names import composed, qualified, quoted
from sluice.vendors.oracle.session import execute

# The room for tables, unless the DBA takes another one.
TABLE_SPACE = "USERS"


def script(login: str, tables: Collection[TableName], table_space: str = TABLE_SPACE) -> str:
    """The script for the user of a source's connection, which is there already, and the tables that are watched.

    Args:
        login: as the connection has it. Without quotes around it, it is in upper case.
    """
    user = _user(login)
    statements = [
        composed("capture/grants/system", user=user),
        composed("grants/flashback", user=user),
        composed("capture/grants/segments", user=user),
        composed("grants/quota", user=user, table_space=quoted(table_space)),
        *(composed("capture/grants/table", user=user, table=qualified(table)) for table in sorted(tables)),
    ]
    return ";\n".join(statements)


def for_slave(info: ConnectionInfo, schema: str, schemas: Collection[str], tables: Collection[TableName]) -> str:
    """The script for the user of a slave's connection, who owns every table that is written."""
    user = _user(info.login or "")
    statements = [
        composed("position/rights", user=user),
        composed("grants/flashback", user=user),
        composed("grants/quota", user=user, table_space=quoted(TABLE_SPACE)),
    ]
    return ";\n".join(statements)


def missing(session: oracledb.Connection, privileges: Sequence[str]) -> list[str]:
    """Those of these system privileges that the user of a session does not have, and room for tables."""
    held = {str(privilege) for (privilege,) in execute(session, composed("catalog/rights"))}
    room = [] if execute(session, composed("catalog/room")) else ["room that is left in a table space (QUOTA)"]
    return [one for one in privileges if one not in held] + room


def _user(login: str) -> str:
    return quoted(login.strip('"') if login.startswith('"') else login.upper())
