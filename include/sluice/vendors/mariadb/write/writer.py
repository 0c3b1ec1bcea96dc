"""Writing the net effect of a run into a slave's tables, within the transaction of a batch.

What becomes of a table is staged in a temporary table of multi-row statements, and written by sets: keys that are gone
go first, then rows come or become what they are now. A table has one key alone and nothing that acts (`existing` sees
to that), so no order among tables or rows matters, and no row stands in the way of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

import pyarrow as pa
import pymysql

from sluice.apply.net.effects import Effect, Run
from sluice.apply.net.net_effect import CountedNet, KeyedNet, cells
from sluice.crash import CrashPoint, reached
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.row_conflict import Tolerated, conflict_counts
from sluice.vendors.mariadb.catalog.tables import SlaveTable, existing, names_of, no_table
from sluice.vendors.mariadb.session import Connection, Sql, changed, composed, execute, qualified, quoted
from sluice.vendors.mariadb.types import Form, Stored, literals
from sluice.vendors.mariadb.write.bulk import BulkInsert

_MOST_STAGES = 50
# What becomes of a staged key.
GONE, COMES, FRESH = "0", "1", "2"
_MARK = Stored(Column("sluice_mark", "smallint"), "tinyint", Form.NUMBER)


class TableWriter:
    """The tables of a slave, as one session writes them."""

    def __init__(self, session: Connection) -> None:
        self._session = session
        self._bulk = BulkInsert(session)
        self._tables: dict[Layout, SlaveTable] = {}
        self._stages: dict[SlaveTable, Sql] = {}

    def look_up(self) -> None:
        """Look at tables again: in a transaction that begins they may be others."""
        self._tables.clear()

    def table(self, layout: Layout) -> SlaveTable:
        """The slave's table of a layout. Raises SluiceError SLC-439, SLC-433: it is not there, or unfit."""
        if layout not in self._tables:
            with suppress(pymysql.err.ProgrammingError):
                # From here on nobody alters it until the transaction ends.
                execute(self._session, f"SELECT 1 FROM {qualified(layout.name)} LIMIT 0")
            known = existing(self._session, layout)
            if known is None:
                raise no_table(layout.name)
            self._tables[layout] = known
        return self._tables[layout]

    def insert(self, table: SlaveTable, texts: Sequence[pa.Array]) -> None:
        """Put rows into a table, given as an array of canonical texts for each column."""
        self._bulk.insert(qualified(table.name), table.name, table.columns, texts)

    def write(self, run: Run) -> Tolerated:
        """Write one run. Returns which rows were not as expected.

        Raises:
            SluiceError: SLC-431, a value that a column cannot hold; or what `table` raises.
        """
        tolerated = Tolerated()
        for effect in run:
            table = self.table(effect.layout)
            if effect.emptied:
                # TRUNCATE would commit.
                changed(self._session, f"DELETE FROM {qualified(table.name)}")
            found = self._effect(table, effect)
            tolerated += Tolerated() if effect.emptied else conflict_counts(table.name, missing=found)
        return tolerated

    def _effect(self, table: SlaveTable, effect: Effect) -> int:
        missing = 0
        for net, changes in effect.nets():
            if isinstance(net, KeyedNet):
                missing += self._keyed(table, net, changes)
            else:
                reached(CrashPoint.STAGED)
                missing += self._counted(table, net)
        return missing

    def _keyed(self, table: SlaveTable, net: KeyedNet, changes: pa.Table) -> int:
        """Write the net effect on keys; how many rows of it the slave lacked."""
        stage = self._stage(table)
        width = len(table.columns)
        gone = cells(changes["old"], net.gone, width, net.layout.key)
        come = cells(changes["new"], [*net.changed, *net.fresh], width, range(width))
        marks = {GONE: len(net.gone)}, {COMES: len(net.changed), FRESH: len(net.fresh)}
        changed(self._session, f"DELETE FROM {stage}")
        for marked, images in zip(marks, (gone, come), strict=True):
            mark = pa.array([one for one, count in marked.items() for _ in range(count)], pa.string())
            self._bulk.insert(stage, table.name, [_MARK, *table.columns], [mark, *images])
        reached(CrashPoint.STAGED)
        parts = {
            "table": qualified(table.name),
            "stage": stage,
            "columns": names_of(table.names),
            "staged": names_of(table.names, "staged"),
            "same_key": " AND ".join(f"staged.{quoted(one)} = held.{quoted(one)}" for one in table.key),
            "becomes": ", ".join(f"{quoted(one)} = staged.{quoted(one)}" for one in table.names),
        }
        missing = net.known_gone + len(net.changed)
        if net.gone:
            # Without a database the server looks for the alias of a DELETE in none.
            execute(self._session, f"USE {quoted(table.name.schema)}")
            missing -= changed(self._session, composed("write/delete_gone", **parts))
        if net.changed:
            ((found,),) = execute(self._session, composed("write/count_changed", **parts))
            missing -= int(found)
        if net.changed or net.fresh:
            changed(self._session, composed("write/upsert", **parts))
        return missing

    def _counted(self, table: SlaveTable, net: CountedNet) -> int:
        """Count c of rows that look alike becomes max(c + a, b); only where b > a it matters what c was."""
        missing, plain, coming = 0, list[list[str | None]](), list[list[str | None]]()
        for image, a, b in net.effects:
            if a >= 0 and b <= a:
                plain += [image] * a
                continue
            alike = self._alike(table, image)
            if b > a:
                ((count,),) = execute(self._session, f"SELECT COUNT(*) FROM {qualified(table.name)} WHERE {alike}")
                becomes = max(int(count) + a, b)
                missing += becomes - (int(count) + a)
                change = becomes - int(count)
            else:
                change = a
            coming += [image] * max(change, 0)
            if change < 0:
                gone = changed(self._session, f"DELETE FROM {qualified(table.name)} WHERE {alike} LIMIT {-change}")
                missing += -change - gone
        self.insert(table, _columns([*plain, *coming], range(len(table.columns))))
        return missing

    def _alike(self, table: SlaveTable, image: list[str | None]) -> str:
        conditions = []
        for index, one in enumerate(table.columns):
            literal = literals(table.name, [one], _columns([image], [index]))[0].as_py()[1:-1]
            value = f"CAST({literal} AS DOUBLE)" if one.form is Form.FLOAT else literal
            conditions.append(f"{quoted(one.column.name)} <=> {value}")
        return " AND ".join(conditions)

    def _stage(self, table: SlaveTable) -> Sql:
        """A temporary table, which commits nothing, for what becomes of a table."""
        if table not in self._stages:
            if len(self._stages) >= _MOST_STAGES:
                execute(self._session, f"DROP TEMPORARY TABLE {', '.join(self._stages.values())}")
                self._stages.clear()
            stage = qualified(TableName(table.name.schema, f"sluice_stage_{len(self._stages)}"))
            columns = [
                f"{quoted(one.column.name)} {one.declared} {'NOT NULL' if one.column.name in table.key else 'NULL'}"
                for one in table.columns
            ]
            key = f"PRIMARY KEY ({names_of(table.key)})"
            parts = {"stage": stage, "columns": ", ".join(columns), "key": key}
            execute(self._session, composed("write/stage", **parts))
            self._stages[table] = stage
        return self._stages[table]


def _columns(images: Sequence[list[str | None]], indices: Iterable[int]) -> list[pa.Array]:
    return [pa.array([image[index] for image in images], pa.string()) for index in indices]
