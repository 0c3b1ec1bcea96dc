"""Rows of some keys on a slave become those of the master unless somebody else changed them: both sides are masters.

A version of a row bears the number of the transaction that wrote it. While it is locked, nobody writes another one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from psycopg import sql

from sluice.apply.mapping.table_view import TableView
from sluice.changelog.points import PointWait
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.definition import listed
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.load.keys import LOOK_S, PostgresRepair
from sluice.vendors.postgresql.load.receiver import merge
from sluice.vendors.postgresql.read.key_range import among, texts
from sluice.vendors.postgresql.session import composed, restore
from sluice.vendors.protocol.read import Key
from sluice.vendors.protocol.repair import Counted, RowsRepaired, VersionedRow

VERSION = "xmin"


class PostgresVersionedRepair(PostgresRepair):
    """See `sluice.vendors.protocol.repair.VersionedRepair`."""

    def arrive(self, at: PointWait) -> None:
        """Wait for the slave to be at a point."""
        with translated(self._doing):
            while not self._arrived(at, "position/position"):
                time.sleep(LOOK_S)

    def rows(self, view: TableView, keys: Sequence[Key], at: PointWait) -> dict[Key, VersionedRow]:
        """These rows while the slave is at the point."""
        with translated(self._doing):
            self._copying.close()
            with self._session.transaction():
                restore(self._session)
                while not self._arrived(at, "load/blocks/at"):
                    time.sleep(LOOK_S)
                return self._found(view, view.written_columns, keys, sql.SQL(""))

    def end_unchanged(
        self,
        keys: Sequence[Key],
        versions: Mapping[Key, str],
        at: PointWait,
        expect_allowed: Callable[[], None],
        counted: Counted,
    ) -> RowsRepaired:
        """Make the rows of these versions those that were written."""

        def repaired() -> RowsRepaired:
            found = self._found(self._view, self._view.layout.key_names, keys, sql.SQL("FOR UPDATE"))
            here = [key for key in keys if key in found and found[key][1] == versions.get(key)]
            absent = [key for key in keys if key not in found and key not in versions]
            self._leave(sorted(set(keys) - {*here, *absent}))
            deleted = self._delete(here, staged=False) if here and not self._own else 0

            def in_place() -> int:
                # One that somebody inserts at this moment stays: it is newer.
                inserted = self._run(merge(self._view, upserted=False))
                self._leave(absent)
                return inserted + self._run(merge(self._view, upserted=True))

            return counted(RowsRepaired(deleted, self._written(here, in_place, upserted=False)))

        return self._at_point(at, expect_allowed, repaired)

    def _found(
        self, view: TableView, columns: Sequence[str], keys: Sequence[Key], held: sql.SQL
    ) -> dict[Key, VersionedRow]:
        asked = composed(
            "load/versions",
            version=sql.Identifier(VERSION),
            columns=listed(columns),
            rows=relations.rows_of(self._session, view.layout.name),
            within=among(view.layout.key_names, keys),
            held=held,
        )
        where = [columns.index(name) for name in view.layout.key_names]
        found: dict[Key, VersionedRow] = {}
        for version, *values in texts(self._session.execute(asked)):
            found[tuple(values[place] or "" for place in where)] = values, version or ""
        return found

    def _leave(self, keys: Sequence[Key]) -> None:
        """Take what was staged for these keys away."""
        if keys:
            self._session.execute(composed("load/unstage", within=among(self._view.layout.key_names, keys)))
