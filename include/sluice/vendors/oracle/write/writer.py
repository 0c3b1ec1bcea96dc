"""Writing the net effect of a run into a slave's tables, within the transaction of a batch.

What becomes of a table is staged in a private temporary table by arrays of rows, and written by sets: keys that are
gone go first, then rows come or become what they are now. A table has one key alone and nothing that acts (`existing`
sees to that), so no order among tables or rows matters, and no row stands in the way of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import oracledb
import pyarrow as pa

from sluice.apply.net.effects import Effect, Run
from sluice.apply.net.net_effect import CountedNet, KeyedNet, cells
from sluice.crash import CrashPoint, reached
from sluice.model.layout import Column, Layout
from sluice.model.row_conflict import Tolerated, conflict_counts
from sluice.vendors.oracle.catalog.slave_tables import MARK, SlaveTable, existing, names_of, no_table
from sluice.vendors.oracle.errors import code_of
from sluice.vendors.oracle.names import composed, qualified, quoted
from sluice.vendors.oracle.session import changed, execute
from sluice.vendors.oracle.slave_columns import Form, Stored, values_of
from sluice.vendors.oracle.slave_refusals import expect_same_transaction
from sluice.vendors.oracle.write import array_insert

_MOST_STAGES = 50
# What becomes of a staged key.
GONE, COMES, FRESH = "0", "1", "2"
_MARK = Stored(Column(MARK, "smallint"), "NUMBER(1,0)", Form.INTEGER)
_NOT_THERE = "ORA-00942"


class TableWriter:
    """The tables of a slave, as one session writes them."""

    def __init__(self, session: oracledb.Connection) -> None:
        self._session = session
        self._tables: dict[Layout, SlaveTable] = {}
        self._stages: dict[SlaveTable, str] = {}

    def look_up(self) -> None:
        """Look at tables again: in a transaction that begins they may be others."""
        self._tables.clear()

    def table(self, layout: Layout) -> SlaveTable:
        """The slave's table of a layout. Raises SluiceError SLC-522, SLC-518: it is not there, or unfit."""
        if layout not in self._tables:
            try:
                execute(self._session, composed("write/hold", table=qualified(layout.name)))
            except oracledb.DatabaseError as error:
                if code_of(error) != _NOT_THERE:
                    raise
                raise no_table(layout.name) from error
            known = existing(self._session, layout)
            if known is None:
                raise no_table(layout.name)
            self._tables[layout] = known
        return self._tables[layout]

    def insert(self, table: SlaveTable, texts: Sequence[pa.Array]) -> None:
        """Put rows into a table, given as an array of canonical texts for each column."""
        if len(texts[0]):
            array_insert.insert(self._session, qualified(table.name), table.name, table.columns, texts)

    def write(self, run: Run) -> Tolerated:
        """Write one run. Returns which rows were not as expected.

        Raises:
            SluiceError: SLC-516, a value that a column cannot hold; or what `table` raises.
        """
        tolerated = Tolerated()
        for effect in run:
            table = self.table(effect.layout)
            if effect.emptied:
                changed(self._session, composed("write/empty", table=qualified(table.name)))
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
        if not (net.gone or net.changed or net.fresh):
            return 0
        stage = self._stage(table)
        width = len(table.columns)
        gone = cells(changes["old"], net.gone, width, net.layout.key)
        come = cells(changes["new"], [*net.changed, *net.fresh], width, range(width))
        marks = {GONE: len(net.gone)}, {COMES: len(net.changed), FRESH: len(net.fresh)}
        changed(self._session, composed("write/empty", table=stage))
        for marked, images in zip(marks, (gone, come), strict=True):
            mark = pa.array([one for one, count in marked.items() for _ in range(count)], pa.string())
            if len(mark):
                array_insert.insert(self._session, stage, table.name, [_MARK, *table.columns], [mark, *images])
        reached(CrashPoint.STAGED)
        parts = parts_of(table, stage)
        missing = net.known_gone + len(net.changed)
        if net.gone:
            missing -= changed(self._session, composed("write/delete_gone", **parts))
        if net.changed:
            ((found,),) = execute(self._session, composed("write/count_changed", **parts))
            missing -= int(found)
        if net.changed or net.fresh:
            changed(self._session, composed("write/merge", **parts))
        return missing

    def _counted(self, table: SlaveTable, net: CountedNet) -> int:
        """Count c of rows that look alike becomes max(c + a, b); only where b > a it matters what c was."""
        missing, plain, coming = 0, list[list[str | None]](), list[list[str | None]]()
        for image, a, b in net.effects:
            if a >= 0 and b <= a:
                plain += [image] * a
                continue
            alike, values, types = alike_of(table, image)
            parts = {"table": qualified(table.name), "alike": alike}
            if b > a:
                ((count,),) = self._typed(composed("write/count_alike", **parts), values, types)
                becomes = max(int(count) + a, b)
                missing += becomes - (int(count) + a)
                change = becomes - int(count)
            else:
                change = a
            coming += [image] * max(change, 0)
            if change < 0:
                statement = composed("write/delete_alike", **parts)
                gone = self._typed(statement, {**values, "most": -change}, types)
                missing += -change - int(gone[0][0])
        self.insert(table, _columns([*plain, *coming], range(len(table.columns))))
        return missing

    def _typed(self, statement: str, values: Mapping[str, Any], types: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """The rows of a query; of anything else how many rows it changed."""
        with self._session.cursor() as cursor:
            cursor.setinputsizes(**types)
            cursor.execute(statement, dict(values))
            return list(cursor.fetchall()) if cursor.description else [(cursor.rowcount,)]

    def _stage(self, table: SlaveTable) -> str:
        """A private temporary table for what becomes of a table."""
        if table not in self._stages:
            if len(self._stages) >= _MOST_STAGES:
                for one in self._stages.values():
                    execute(self._session, composed("write/drop_stage", stage=one))
                self._stages.clear()
            # The server demands this beginning of the name.
            stage = quoted(f"ORA$PTT_SLUICE_{len(self._stages)}")
            before = execute(self._session, composed("write/transaction"))
            execute(self._session, composed("write/stage", stage=stage, columns=staged_columns(table)))
            expect_same_transaction(before, execute(self._session, composed("write/transaction")), stage)
            self._stages[table] = stage
        return self._stages[table]


def staged_columns(table: SlaveTable) -> str:
    """The columns of a stage. What is gone has its key alone."""
    return ", ".join(
        f"{quoted(one.column.name)} {one.type} {'NOT NULL' if one.column.name in table.key else 'NULL'}"
        for one in table.columns
    )


def parts_of(table: SlaveTable, stage: str) -> dict[str, str]:
    """The parts of the statements that write a table from its stage."""
    assigned = ", ".join(f"held.{quoted(one)} = staged.{quoted(one)}" for one in table.names if one not in table.key)
    return {
        "table": qualified(table.name),
        "stage": stage,
        "columns": names_of(table.names),
        "staged": names_of(table.names, "staged"),
        "key": names_of(table.key, "held"),
        "staged_key": names_of(table.key, "staged"),
        "same_key": " AND ".join(f"staged.{quoted(one)} = held.{quoted(one)}" for one in table.key),
        "becomes": composed("write/becomes", assigned=assigned) if assigned else "",
    }


def alike_of(table: SlaveTable, image: Sequence[str | None]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The condition for rows that look like an image, with the values of its places and their types."""
    conditions, values, types = [], dict[str, Any](), dict[str, Any]()
    for index, one in enumerate(table.columns):
        column, bind = f"held.{quoted(one.column.name)}", f"v{index}"
        (value,) = values_of(table.name, one, pa.array([image[index]], pa.string()))
        if value is None:
            conditions.append(f"{column} IS NULL")
            continue
        if one.is_long and not value:
            conditions.append(f"DBMS_LOB.GETLENGTH({column}) = 0")
            continue
        same = f"DBMS_LOB.COMPARE({column}, :{bind}) = 0" if one.is_long else f"{column} = {one.taken(f':{bind}')}"
        conditions.append(same)
        values[bind], types[bind] = value, one.compared
    return " AND ".join(conditions), values, types


def _columns(images: Sequence[list[str | None]], indices: Iterable[int]) -> list[pa.Array]:
    return [pa.array([image[index] for image in images], pa.string()) for index in indices]
