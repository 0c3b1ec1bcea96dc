"""How triggers for DDL noted watched tables becomes their recorded columns, from the key of the command on (R7).

So a command is known as it was, also if another one of its table follows before the publisher looks.
"""

from __future__ import annotations

from collections.abc import Mapping

import oracledb

from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.names import TableName
from sluice.model.watched import find_entry
from sluice.vendors.oracle.capture import registry
from sluice.vendors.oracle.capture.commands import NotCarried, altered, plain
from sluice.vendors.oracle.catalog.noted import noted
from sluice.vendors.oracle.catalog.recorded import RecordedTable, layout_of
from sluice.vendors.oracle.names import composed
from sluice.vendors.oracle.session import changed, execute, transaction


def record_noted(session: oracledb.Connection, parts: Mapping[str, str], source: str) -> None:
    """Record the columns behind each ALTER that waits in ITEMS and changed some. A table is LOST if its rows are not
    known behind one.
    """
    rows = execute(session, composed("capture/queue/definitions", **parts))
    known = registry.layouts(session, parts) if rows else {}
    for key, relation, content, statement in rows:
        number, tables = int(key), known.get(int(relation), [])
        former = [one for one in tables if one.number < number]
        if not former or any(one.number == number for one in tables):
            continue
        before = former[-1]
        try:
            after = noted(int(relation), content)
            layout_of(after)
        except (ValueError, SluiceError) as error:
            # It goes on with the columns that are known.
            event("a command is not sent", source=source, table=before.table.name, why=error)
            continue
        renamed = after.name != before.table.name
        if plain(after) == before.table or (renamed and not _may_bear(session, parts, after.name)):
            continue
        why = ""
        try:
            altered(before.table, after, statement)
        except NotCarried as error:
            why = str(error)
            event("a command is not sent", source=source, table=after.name, why=why)
        found = RecordedTable(number, plain(after))
        with transaction(session):
            if why:
                changed(session, composed("capture/registry/lose", **parts), {"relation": int(relation)})
            changed(session, composed("capture/registry/add_layout", **parts), found.values)
            if renamed:
                named = {"schema": after.name.schema, "name": after.name.table, "relation": int(relation)}
                changed(session, composed("capture/registry/rename", **parts), named)
        tables.append(found)
        tables.sort(key=lambda one: one.number)


def _may_bear(session: oracledb.Connection, parts: Mapping[str, str], name: TableName) -> bool:
    """Whether a watched table is watched on under another name: the configuration wants it, and no other one has it.

    Otherwise it is let go, as one that is not there.
    """
    return bool(find_entry(registry.wanted(session, parts), name)) and name not in registry.registered(session, parts)
