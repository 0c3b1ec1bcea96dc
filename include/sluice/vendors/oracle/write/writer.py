"""Writing the net effect of a run into a slave's tables, within the transaction of a batch (see `net_writer`).

What becomes of a table is staged in a private temporary table by arrays of rows. A table has one key alone and nothing
that acts: `existing` sees to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import oracledb
import pyarrow as pa

from sluice.apply.net.net_effect import KeyedNet
from sluice.crash import CrashPoint, crash_if_asked
from sluice.model.layout import Column, Layout
from sluice.vendors.net_writer import NetWriter, staged
from sluice.vendors.oracle.catalog.slave_tables import MARK, SlaveTable, existing, names_of, no_table
from sluice.vendors.oracle.errors import code_of, translated
from sluice.vendors.oracle.names import composed, qualified, quoted
from sluice.vendors.oracle.session import changed, execute
from sluice.vendors.oracle.slave_columns import Form, Stored, values_of
from sluice.vendors.oracle.slave_refusals import expect_same_transaction
from sluice.vendors.oracle.write import array_insert

_MOST_STAGES = 50
_MARK = Stored(Column(MARK, "smallint"), "NUMBER(1,0)", Form.INTEGER)
_NOT_THERE = "ORA-00942"


class TableWriter(NetWriter[SlaveTable]):
    """See `NetWriter`; tables are not there (SLC-070) or unfit (SLC-073), and columns cannot hold values (SLC-431)."""

    translated = staticmethod(translated)

    def __init__(self, session: oracledb.Connection) -> None:
        super().__init__()
        self._session = session
        self._stages: dict[SlaveTable, str] = {}

    def held(self, layout: Layout) -> SlaveTable:
        """See `NetWriter`."""
        try:
            execute(self._session, composed("write/hold", table=qualified(layout.name)))
        except oracledb.DatabaseError as error:
            if code_of(error) != _NOT_THERE:
                raise
            raise no_table(layout.name) from error
        known = existing(self._session, layout)
        if known is None:
            raise no_table(layout.name)
        return known

    def insert(self, table: SlaveTable, texts: Sequence[pa.Array]) -> None:
        """See `NetWriter`."""
        if len(texts[0]):
            array_insert.insert(self._session, qualified(table.name), table.name, table.columns, texts)

    def empty(self, table: SlaveTable) -> None:
        """See `NetWriter`."""
        changed(self._session, composed("write/empty", table=qualified(table.name)))

    def keyed(self, table: SlaveTable, net: KeyedNet, changes: pa.Table) -> int:
        """See `NetWriter`."""
        if not (net.gone or net.changed or net.fresh):
            return 0
        stage = self._stage(table)
        changed(self._session, composed("write/empty", table=stage))
        for mark, images in staged(net, changes, len(table.columns)):
            if len(mark):
                array_insert.insert(self._session, stage, table.name, [_MARK, *table.columns], [mark, *images])
        crash_if_asked(CrashPoint.STAGED)
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

    def count_alike(self, table: SlaveTable, image: Sequence[str | None]) -> int:
        """See `NetWriter`."""
        alike, values, types = alike_of(table, image)
        counted = composed("write/count_alike", table=qualified(table.name), alike=alike)
        ((count,),) = self._typed(counted, values, types)
        return int(count)

    def delete_alike(self, table: SlaveTable, image: Sequence[str | None], most: int) -> int:
        """See `NetWriter`."""
        alike, values, types = alike_of(table, image)
        deleted = composed("write/delete_alike", table=qualified(table.name), alike=alike)
        ((count,),) = self._typed(deleted, {**values, "most": most}, types)
        return int(count)

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
