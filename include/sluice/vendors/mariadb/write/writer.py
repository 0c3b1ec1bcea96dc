"""Writing the net effect of a run into a slave's tables, within the transaction of a batch (see `net_writer`).

What becomes of a table is staged in a temporary table of multi-row statements. A table has one key alone and nothing
that acts: `existing` sees to that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import pyarrow as pa
import pymysql

from sluice.apply.net.net_effect import KeyedNet
from sluice.crash import CrashPoint, crash_if_asked
from sluice.model.layout import Column, Layout
from sluice.vendors.mariadb.catalog.tables import SlaveTable, existing, make_stage, names_of, no_table
from sluice.vendors.mariadb.errors import translated
from sluice.vendors.mariadb.session import Connection, Sql, changed, composed, execute, qualified, quoted
from sluice.vendors.mariadb.types import Form, Stored, literals
from sluice.vendors.mariadb.write.bulk import BulkInsert
from sluice.vendors.net_writer import NetWriter, columns_of, staged

_MOST_STAGES = 50
_MARK = Stored(Column("sluice_mark", "smallint"), "tinyint", Form.NUMBER)


class TableWriter(NetWriter[SlaveTable]):
    """See `NetWriter`; tables are not there (SLC-070) or unfit (SLC-073), and columns cannot hold values (SLC-431)."""

    translated = staticmethod(translated)

    def __init__(self, session: Connection) -> None:
        super().__init__()
        self._session = session
        self._bulk = BulkInsert(session)
        self._stages: dict[SlaveTable, Sql] = {}

    def held(self, layout: Layout) -> SlaveTable:
        """See `NetWriter`."""
        with suppress(pymysql.err.ProgrammingError):
            # From here on nobody alters it until the transaction ends.
            execute(self._session, f"SELECT 1 FROM {qualified(layout.name)} LIMIT 0")
        known = existing(self._session, layout)
        if known is None:
            raise no_table(layout.name)
        return known

    def insert(self, table: SlaveTable, texts: Sequence[pa.Array]) -> None:
        """See `NetWriter`."""
        self._bulk.insert(qualified(table.name), table.name, table.columns, texts)

    def inserting(self, table: SlaveTable, lines: bytes) -> Callable[[], None]:
        """See `BulkInsert.inserting`."""
        return self._bulk.inserting(qualified(table.name), table.name, table.columns, lines)

    def empty(self, table: SlaveTable) -> None:
        """See `NetWriter`: TRUNCATE would commit."""
        changed(self._session, f"DELETE FROM {qualified(table.name)}")

    def keyed(self, table: SlaveTable, net: KeyedNet, changes: pa.Table) -> int:
        """See `NetWriter`."""
        stage = self._stage(table)
        changed(self._session, f"DELETE FROM {stage}")
        for mark, images in staged(net, changes, len(table.columns)):
            self._bulk.insert(stage, table.name, [_MARK, *table.columns], [mark, *images])
        crash_if_asked(CrashPoint.STAGED)
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

    def count_alike(self, table: SlaveTable, image: Sequence[str | None]) -> int:
        """See `NetWriter`."""
        counted = f"SELECT COUNT(*) FROM {qualified(table.name)} WHERE {_alike(table, image)}"
        ((count,),) = execute(self._session, counted)
        return int(count)

    def delete_alike(self, table: SlaveTable, image: Sequence[str | None], most: int) -> int:
        """See `NetWriter`."""
        return changed(self._session, f"DELETE FROM {qualified(table.name)} WHERE {_alike(table, image)} LIMIT {most}")

    def _stage(self, table: SlaveTable) -> Sql:
        """See `make_stage`."""
        if table not in self._stages:
            if len(self._stages) >= _MOST_STAGES:
                execute(self._session, f"DROP TEMPORARY TABLE {', '.join(self._stages.values())}")
                self._stages.clear()
            self._stages[table] = make_stage(self._session, table, f"sluice_stage_{len(self._stages)}")
        return self._stages[table]


def _alike(table: SlaveTable, image: Sequence[str | None]) -> str:
    """The condition for rows that look like an image."""
    conditions = []
    for index, one in enumerate(table.columns):
        literal = literals(table.name, [one], columns_of([image], [index]))[0].as_py()[1:-1]
        value = f"CAST({literal} AS DOUBLE)" if one.form is Form.FLOAT else literal
        conditions.append(f"{quoted(one.column.name)} <=> {value}")
    return " AND ".join(conditions)
