"""Tables that are to be watched and are not: which they are, why, and what a renamed one is called now."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from psycopg import sql

from sluice.errors import AGAIN, TransientError
from sluice.model.names import TableName
from sluice.model.unwatched import Unwatched, UnwatchedReason
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.session import Connection, composed

Parts = Mapping[str, sql.Composable]
# Kinds of relations that can be watched.
_TABLES = ("r", "p")


def missing(
    connection: Connection, parts: Parts | None, names: Collection[TableName]
) -> dict[TableName, TableName | None]:
    """The names that are no tables of the source with columns, each with the table's new name if it was renamed.

    Args:
        parts: None where the DbResources are not installed.
    """
    found = relations.existing(connection, names)
    empty = relations.columnless(connection, found)
    absent = [name for name in names if name in empty or name not in found or found[name][1] not in _TABLES]
    return {name: called_now(connection, parts, name) if parts else None for name in absent}


def present(connection: Connection, parts: Parts | None, names: Collection[TableName]) -> dict[TableName, TableName]:
    """The tables that exist: the configured names by the current ones."""
    absent = missing(connection, parts, names)
    renamed = {called: name for name, called in absent.items() if called}
    return renamed | {name: name for name in names if name not in absent}


def changing(what: str) -> TransientError:
    """Other tables exist than a moment ago."""
    return TransientError(95, f"{what}: made, dropped or renamed by somebody at this moment", AGAIN)


def called_now(connection: Connection, parts: Parts, name: TableName) -> TableName | None:
    """The current name of a table that was renamed since it was watched, if its old name is free."""
    row = connection.execute(
        composed("capture/registry/called_now", **parts), {"schema": name.schema, "table": name.table}
    ).fetchone()
    return TableName(*row) if row else None


def among(connection: Connection, parts: Parts | None, names: Collection[TableName]) -> list[Unwatched]:
    """Find tables that are not watched: of these, of the WANTED ones in the registry, and of the tables that wildcards
    of the last bootstrap take.

    Args:
        parts: None where the DbResources are not installed: then all that exist are to be watched by the bootstrap.
    """
    found = list(_registry(connection, parts, names)) if parts else []
    if parts is None:
        found = [Unwatched(name, UnwatchedReason.MISSING) for name in missing(connection, None, names)]
    absent = [one.name for one in found if one.reason is UnwatchedReason.MISSING]
    alike = _alike(connection, absent)
    return [Unwatched(one.name, one.reason, alike.get(one.name, one.related)) for one in found]


def _registry(connection: Connection, parts: Parts, names: Collection[TableName]) -> Iterator[Unwatched]:
    rows = connection.execute(composed("capture/registry/unwatched", **parts), relations.among(names)).fetchall()
    for schema, table, kind, columnless, recorded, ours, *whole in rows:
        name = TableName(schema, table)
        if kind is None:
            renamed = called_now(connection, parts, name)
            yield (
                Unwatched(name, UnwatchedReason.RENAMED, (renamed,))
                if renamed
                else Unwatched(name, UnwatchedReason.MISSING)
            )
        elif kind not in _TABLES:
            yield Unwatched(name, UnwatchedReason.OTHER_KIND)
        elif columnless:
            yield Unwatched(name, UnwatchedReason.COLUMNLESS)
        elif whole[0] is not None:
            yield Unwatched(name, UnwatchedReason.PARTITION, (TableName(*whole),))
        elif not recorded:
            yield Unwatched(name, UnwatchedReason.CONFIGURED_SINCE)
        else:
            yield Unwatched(name, UnwatchedReason.PENDING if ours else UnwatchedReason.OWNER)


def _alike(connection: Connection, names: Collection[TableName]) -> dict[TableName, tuple[TableName, ...]]:
    """Tables that are spelled almost like these."""
    found: dict[TableName, tuple[TableName, ...]] = {}
    if names:
        for row in connection.execute(composed("catalog/spelled_alike"), relations.among(names)):
            found[TableName(*row[:2])] = (*found.get(TableName(*row[:2]), ()), TableName(*row[2:]))
    return found
