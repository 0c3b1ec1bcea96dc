"""The version of our objects in a database, and the migrations of older ones.

On a source these are the DbResources, on a slave the tables of its position. The SQL files make the newest version.
Each version after the first has a migration with its number, for what `CREATE ... IF NOT EXISTS` leaves as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from psycopg import sql

from sluice import sqlfiles
from sluice.errors import ConfigError
from sluice.model.names import Resources, TableName
from sluice.vendors.postgresql import install_lock
from sluice.vendors.postgresql.capture import event_triggers
from sluice.vendors.postgresql.catalog.definition import identifier, regclass
from sluice.vendors.postgresql.session import Connection, composed

# The folders of their migrations.
_SOURCE = "migrations/source"
_SLAVE = "migrations/slave"
# What we keep in a slave, by the end of its name, and how it is made.
_KEPT = {
    "position": "position/position_table",
    "loaded": "position/loaded_table",
    "ranges": "position/ranges_table",
    "indexes": "position/indexes_table",
    "references": "position/references_table",
}
IN_SLAVE = tuple(f"sluice_{name}" for name in _KEPT)
_FIRST = 1


def parts_of_slave(schema: str) -> dict[str, sql.Composable]:
    """The names of our tables in a slave, for the placeholders of SQL files."""
    return {name: sql.Identifier(schema, f"sluice_{name}") for name in _KEPT}


def is_ours(masters: Collection[Resources], name: TableName) -> bool:
    """Whether a table of this name is ours: in a slave, in any schema, or in one of these masters."""
    return name.table in IN_SLAVE or any(one.has(name) for one in masters)


def _number(name: str) -> int:
    return int(name.rpartition("/")[2][:3])


def newest(folder: str = _SOURCE) -> int:
    """The version that this code works with."""
    return max([_FIRST, *map(_number, sqlfiles.names("postgresql", folder))])


def version(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> int | None:
    """The version of what is there; None if nothing is.

    Raises:
        ConfigError: SLC-059 if a newer Sluice made it.
    """
    state = regclass(TableName(resources.schema, resources.name("state")))
    (exists,) = connection.execute("SELECT to_regclass(%s) IS NOT NULL", [state]).fetchone() or (False,)
    if not exists:
        return None
    (found,) = connection.execute(composed("capture/registry/version", **parts)).fetchone() or (0,)
    return _known(int(found), _SOURCE, f"the DbResources {resources.name('')}")


def upgrade(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Bring tables of an older version up to this one, in the caller's transaction; bootstrap makes what is missing."""
    found = version(connection, resources, parts)
    if found is not None:
        if found < newest():
            event_triggers.deafen(connection, resources)
        _bring_up(connection, _SOURCE, found, parts)


def finish(connection: Connection, parts: Mapping[str, sql.Composable]) -> None:
    """Record the version, once everything of it is there."""
    connection.execute(composed("capture/registry/upgraded", **parts), {"version": newest()})


def install_in_slave(
    connection: Connection, slave: str, position: TableName, parts: Mapping[str, sql.Composable]
) -> bool:
    """Create the tables of ours that are missing, bring older ones up; whether anything was to be done.

    Their version is a remark on the table `position`.

    Raises:
        ConfigError: SLC-059 if a newer Sluice made them.
    """
    what = f"the tables of Sluice in {slave}"
    if _remarked(connection, position, what) == newest(_SLAVE):
        return False
    with connection.transaction():
        install_lock.alone(connection, position, "sluice slave")
        for name in _KEPT.values():
            connection.execute(composed(name, **parts))
        _bring_up(connection, _SLAVE, _remarked(connection, position, what), parts)
        remark = sql.SQL("COMMENT ON TABLE {} IS {}")
        connection.execute(remark.format(identifier(position), sql.Literal(f"version {newest(_SLAVE)}")))
    return True


def _remarked(connection: Connection, position: TableName, what: str) -> int:
    """The version of our tables in a slave; 0 if one of them is missing, so that it is made."""
    kept = [regclass(TableName(position.schema, name)) for name in IN_SLAVE]
    asked = {"position": regclass(position), "kept": kept}
    remark, complete = connection.execute(composed("position/version"), asked).fetchone() or (None, False)
    match = re.fullmatch(r"version (\d+)", remark or "")
    found = _known(int(match[1]) if match else 0, _SLAVE, what)
    return found if complete else 0


def _known(found: int, folder: str, what: str) -> int:
    if found > newest(folder):
        raise ConfigError(
            59,
            f"{what} are of version {found}, and this Sluice knows {newest(folder)}",
            "a newer Sluice made them: run that version, nothing was changed",
        )
    return found


def _bring_up(connection: Connection, folder: str, found: int, parts: Mapping[str, sql.Composable]) -> None:
    for name in sqlfiles.names("postgresql", folder):
        if _number(name) > found:
            connection.execute(composed(name, **parts))
