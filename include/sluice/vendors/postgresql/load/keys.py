"""Rows of some keys on a slave become those of the master, at a point of the stream (R10)."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress

import psycopg
from psycopg import sql

from sluice import shell
from sluice.apply.mapping.table_view import TableView
from sluice.changelog.points import PointWait
from sluice.config.mapper import Mapper
from sluice.connections import ConnectionInfo
from sluice.crash import CrashPoint, crash_if_asked
from sluice.errors import KeyConflict, SluiceError
from sluice.model.action import FilledRows
from sluice.model.names import Pair, Resources
from sluice.vendors.postgresql import migrations
from sluice.vendors.postgresql.capture.loop_filter import LoopFilter
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.catalog.definition import identifier, listed
from sluice.vendors.postgresql.ddl.compatibility import fitting
from sluice.vendors.postgresql.ddl.names import names_of
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.load.key_spelling import respelling
from sluice.vendors.postgresql.load.receiver import loader, merge
from sluice.vendors.postgresql.read.key_range import among
from sluice.vendors.postgresql.session import composed, keep, restore
from sluice.vendors.postgresql.write import side_effects
from sluice.vendors.postgresql.write.staging import missing
from sluice.vendors.postgresql.write.writer import TAKEN
from sluice.vendors.protocol.read import Key
from sluice.vendors.protocol.repair import Counted, RowsRepaired

LOOK_S = 0.02
# The slave stands at the point meanwhile. Less than the second after which servers look for deadlocks: no statement of
# a user is ended for a repair.
_LOCK_WAIT = "400ms"


class PostgresRepair:
    """See `sluice.vendors.protocol.repair.RowRepair`."""

    def __init__(
        self, info: ConnectionInfo, pair: Pair, schema: str, mapper: Mapper, masters: Collection[Resources]
    ) -> None:
        self._pair = pair
        self._mapper = mapper
        self._masters = masters
        self._parts = migrations.parts_of_slave(schema)
        self._doing = f"repairing {pair.slave}"
        self._copying = ExitStack()
        with translated(self._doing):
            # A job that takes the slave over finds the session by its name, and ends it (R6).
            self._session = loader(info, pair, schema, in_blocks=True)
            keep(self._session, lock_timeout=_LOCK_WAIT)
            # A repair that was reported is not to be lost in a crash: no log delivers it again.
            keep(self._session, synchronous_commit="on")

    def begin(self, view: TableView) -> list[str]:
        """Begin with rows of a table. Returns the types that the columns of its key have on the slave."""
        layout = view.layout
        self._doing = f"repairing {layout.name} of {self._pair.slave}"
        with translated(self._doing):
            self._copying.close()
            columns_here = fitting(self._session, layout, names_of(self._session, self._mapper))
            if not columns_here:
                raise missing(f"the slave has no table {layout.name}")
            if not relations.enforced(self._session, layout.name, layout.key_names):
                raise SluiceError(
                    467,
                    f"no index of {layout.name} on slave {self._pair.slave} tells rows apart by "
                    f"{', '.join(layout.key_names)}",
                    "nothing was changed in it; make a unique index of these columns, or fill the table by "
                    f"initial_update with `tables`, which makes its rows those of {self._pair.source}",
                )
            self._silent = side_effects.is_silent(self._session)
            side_effects.expect_none(self._session, [layout.name], silent=self._silent)
            # Nobody compares what belongs to the slave alone: it would be gone without a word.
            side_effects.expect_reaching_none(self._session, layout.name)
            # Rows of the slave's own are not the master's of any time.
            self._view, self._own = view, self._mapper.existing_rows(view.master.name) is FilledRows.MERGE
            self._respell = respelling(self._session, view)
            columns = listed(view.written_columns)
            self._session.execute("DROP TABLE IF EXISTS pg_temp.sluice_merged")
            stage = composed(
                "load/stage", table=identifier(layout.name), columns=columns, kept=sql.SQL("PRESERVE ROWS")
            )
            self._session.execute(stage)
            staged = sql.Identifier("pg_temp", "sluice_merged")
            into = composed("load/copy_in", table=staged, columns=columns, format=sql.SQL("text"))
            self._copy = self._copying.enter_context(self._session.cursor().copy(into))
        return [columns_here[name].type for name in layout.key_names]

    def write(self, buffer: bytes) -> None:
        """Write some rows."""
        with translated(self._doing):
            self._copy.write(buffer)

    def end(
        self, keys: Sequence[Key], at: PointWait, expect_allowed: Callable[[], None], counted: Counted
    ) -> RowsRepaired:
        """Make the slave's rows of these keys those that were written."""

        def in_place() -> int:
            written = self._run(self._respell) if self._respell else 0
            return written + self._run(merge(self._view, upserted=True))

        def repaired() -> RowsRepaired:
            deleted = 0 if self._own else self._delete(keys, staged=False)
            return counted(RowsRepaired(deleted, self._written(keys, in_place, upserted=True)))

        return self._at_point(at, expect_allowed, repaired)

    def _written(self, keys: Sequence[Key], in_place: Callable[[], int], *, upserted: bool) -> int:
        """Write what was staged in place; if rows have each other's unique values, delete their like and insert them.

        Raises:
            KeyConflict: SLC-603, a row that is not among these is in the way.
        """
        try:
            with self._session.transaction():
                return in_place()
        except TAKEN:
            pass
        try:
            with self._session.transaction():
                self._delete(keys, staged=True)
                return self._run(merge(self._view, upserted=upserted))
        except (*TAKEN, psycopg.errors.ForeignKeyViolation) as error:
            raise self._in_the_way(error) from error

    def _in_the_way(self, error: psycopg.Error) -> KeyConflict:
        pair, table = self._pair, str(self._view.master.name)
        return KeyConflict(
            603,
            f"rows of {table} on slave {pair.slave} cannot be repaired, since one that is not repaired with them is in "
            f"the way: {error.diag.message_primary}",
            "what was repaired before stays, and nothing else was changed; repair all rows of the table: "
            f"{shell.sluice('repair', pair.source, pair.slave, '--table', table)}. If that ends so, too, remove the "
            f"row there, or make the table's rows those of {pair.source}: "
            f"{shell.update(pair.source, [pair.slave], tables=[table])}",
        )

    def _at_point(
        self, at: PointWait, expect_allowed: Callable[[], None], write: Callable[[], RowsRepaired]
    ) -> RowsRepaired:
        with translated(self._doing):
            self._copying.close()
            while not self._arrived(at, "position/position"):
                time.sleep(LOOK_S)
            crash_if_asked(CrashPoint.STAGED)
            with self._session.transaction():
                restore(self._session)
                # The position's row stays locked: no drain moves the slave on, and no job takes it over (R6).
                while not self._arrived(at, "load/blocks/at"):
                    time.sleep(LOOK_S)
                expect_allowed()
                adopted = self._mapper.adopted
                side_effects.hold(self._session, self._view.layout.name, adopted, silent=self._silent)
                side_effects.expect_reaching_none(self._session, self._view.layout.name)
                loop_filter = LoopFilter(self._session, self._masters)
                rows = write()
                loop_filter.remove()
                crash_if_asked(CrashPoint.MERGED)
        crash_if_asked(CrashPoint.COMMITTED)
        return rows

    def close(self) -> None:
        """End the session."""
        with suppress(psycopg.Error):
            self._copying.close()
        self._session.close()

    def _delete(self, keys: Sequence[Key], *, staged: bool) -> int:
        """Delete the staged rows of these keys, or the others. Returns how many there were."""
        layout = self._view.layout
        gone = composed(
            "load/blocks/gone",
            rows=relations.rows_of(self._session, layout.name),
            within=among(layout.key_names, keys),
            key=listed(layout.key_names),
            its=sql.SQL(", ").join(sql.Identifier("there", name) for name in layout.key_names),
            among=sql.SQL("IN" if staged else "NOT IN"),
        )
        return self._run(gone)

    def _run(self, statement: sql.Composed) -> int:
        """Execute what may run code of others. Returns how many rows it wrote."""
        rows = self._session.execute(statement).rowcount
        restore(self._session)
        return rows

    def _arrived(self, at: PointWait, look: str) -> bool:
        names = {"source": self._pair.source, "slave": self._pair.slave}
        row = self._session.execute(composed(look, position=self._parts["position"]), names).fetchone()
        return at.has_arrived(int(row[1]) if row else 0)
