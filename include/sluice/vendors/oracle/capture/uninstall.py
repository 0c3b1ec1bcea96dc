"""Removing the DbResources: first what fires, then what that calls, then the tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import oracledb

from sluice.model.names import TableName
from sluice.vendors.oracle.names import OracleResources, composed, qualified
from sluice.vendors.oracle.session import execute

_ORDER = ("TRIGGER", "JOB", "FUNCTION", "PROCEDURE", "VIEW", "TABLE", "SEQUENCE")


def remove(
    session: oracledb.Connection, resources: OracleResources, parts: Mapping[str, str], before: Callable[[], None]
) -> list[str]:
    """Drop what is there; what was dropped. Each DROP commits. A user of the DBA's stays."""
    found = execute(session, composed("catalog/objects"), {"schema": resources.schema})
    ours = [(str(kind), str(name)) for kind, name, _ in found if kind in _ORDER and resources.is_ours(str(name))]
    before()
    removed = []
    for kind, name in sorted(ours, key=lambda one: (_ORDER.index(one[0]), one[1])):
        whole = qualified(TableName(resources.schema, name))
        if kind == "JOB":
            statement = composed("capture/remove/job", **parts)
        elif kind == "TABLE":
            statement = composed("capture/remove/table", name=whole)
        else:
            statement = composed("capture/remove/object", kind=kind, name=whole)
        execute(session, statement)
        removed.append(f"{kind} {resources.schema}.{name}")
    return removed
