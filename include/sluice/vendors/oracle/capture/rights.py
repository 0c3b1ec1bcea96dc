"""The rights of a source's user: those that are missing are named before anything is made (R8).

Source: Database Error Messages; PL/SQL Language Reference, "CREATE TRIGGER Statement", "Prerequisites".
"""

from __future__ import annotations

from collections.abc import Callable

import oracledb

from sluice import shell
from sluice.errors import SluiceError
from sluice.vendors.oracle.capture.queue.sweep import newest_scn
from sluice.vendors.oracle.errors import NO_RIGHT, code_of
from sluice.vendors.oracle.grants import missing
from sluice.vendors.oracle.names import OracleResources, composed
from sluice.vendors.oracle.session import execute

# As `capture/grants/system` gives them.
_SYSTEM = (
    "CREATE TABLE",
    "CREATE SEQUENCE",
    "CREATE VIEW",
    "CREATE PROCEDURE",
    "CREATE TRIGGER",
    "CREATE JOB",
    "CREATE ANY TRIGGER",
)


def expect_rights(session: oracledb.Connection) -> None:
    """See that the user may make what capturing takes. Raises SluiceError SLC-033."""
    asked: dict[str, Callable[[], object]] = {
        "EXECUTE ON sys.dbms_flashback": lambda: newest_scn(session),
        "SELECT ON sys.dba_objects": lambda: execute(session, composed("catalog/every_object")),
    }
    if lacking := missing(session, _SYSTEM) + [name for name, ask in asked.items() if not _may(ask)]:
        raise SluiceError(
            33,
            f"the user {session.username} of the source lacks {', '.join(lacking)}",
            f"nothing was changed; let a DBA run the script of {shell.sluice('grants', 'SOURCE')}, with the name of "
            "the source",
        )


def expect_one_edition(session: oracledb.Connection, resources: OracleResources) -> None:
    """See that triggers of ours fire in every edition. Raises SluiceError SLC-400."""
    found = execute(session, composed("catalog/editioned"))
    if ours := [str(name) for _, name in found if resources.is_ours(str(name))]:
        raise SluiceError(
            400,
            f"the user {resources.schema} is enabled for editions: {ours[0]} is there in some of them alone, so the "
            "changes of sessions in others would be missed",
            "no table is watched; take another user for the DbResources, since editions cannot be disabled again",
        )


def _may(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except oracledb.DatabaseError as error:
        if code_of(error) not in NO_RIGHT:
            raise
        return False
    return True
