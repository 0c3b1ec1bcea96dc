"""Which version the DbResources of a source are, and the statements that bring older ones up; ITEMS stays as it is."""

from __future__ import annotations

from collections.abc import Mapping

from psycopg import sql

from sluice import sqlfiles
from sluice.errors import ConfigError
from sluice.model.names import Resources, TableName
from sluice.vendors.postgresql.definition import regclass
from sluice.vendors.postgresql.session import Connection, composed


def _number(name: str) -> int:
    return int(name.rpartition("/")[2][:3])


def newest() -> int:
    """The version that this code works with: the number of the last upgrade."""
    return _number(sqlfiles.names("postgresql", "upgrade")[-1])


def version(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> int | None:
    """The version of what is there; None if nothing is.

    Raises:
        ConfigError: SLC-059 if a newer Sluice made it.
    """
    state = regclass(TableName(resources.schema, resources.name("state")))
    (there,) = connection.execute("SELECT to_regclass(%s) IS NOT NULL", [state]).fetchone() or (False,)
    if not there:
        return None
    (found,) = connection.execute(composed("capture/version", **parts)).fetchone() or (0,)
    if found > newest():
        raise ConfigError(
            59,
            f"the DbResources {resources.name('')} are of version {found}, and this Sluice knows {newest()}",
            "a newer Sluice made them: run that version, nothing was changed",
        )
    return int(found)


def upgrade(connection: Connection, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Bring tables of an older version up to this one, in the caller's transaction; bootstrap makes what is missing."""
    found = version(connection, resources, parts)
    if found is None:
        return
    for name in sqlfiles.names("postgresql", "upgrade"):
        if _number(name) > found:
            connection.execute(composed(name, **parts))


def finish(connection: Connection, parts: Mapping[str, sql.Composable]) -> None:
    """Record the version, once everything of it is there."""
    connection.execute(composed("capture/upgraded", **parts), {"version": newest()})
