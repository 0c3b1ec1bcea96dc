"""Values of columns that were added, in rows that the older trigger of a table wrote until the newer one was there.

Such an image lacks them. They are read from the row as of the sweep's change number, as a LONG is: once all that this
shows is in the log, a row of the slave has what the row of the master had then. A row that is gone by then, or has
another key, is followed by the change that says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import oracledb

from sluice.vendors.oracle.capture.queue.row_images import Cell
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.errors import code_of
from sluice.vendors.oracle.names import composed, qualified, quoted
from sluice.vendors.oracle.read.key_order import key_order
from sluice.vendors.oracle.read.rows import expressions, row_texts
from sluice.vendors.oracle.session import execute

# A column or a table was dropped since, or has another name.
_CHANGED = ("ORA-00904", "ORA-00942")


class AddedColumns:
    """Reads such values as of a change number.

    Args:
        parts: the functions that some columns are read by.
    """

    def __init__(self, session: oracledb.Connection, scn: int, parts: Mapping[str, str]) -> None:
        self._session = session
        self._scn = scn
        self._parts = parts

    def read(self, table: CapturedTable, columns: Sequence[str], known: Mapping[str, Cell]) -> dict[str, Cell] | None:
        """The canonical texts of these columns in the row with a key; None if there is no such row.

        Args:
            known: the values of the row's other columns.

        Raises:
            LookupError: the row cannot be found, so they are not known.
        """
        order = key_order(table)
        key = [known.get(name) for name in table.key]
        if order is None or None in key:
            raise LookupError(f"{table.name} has no key by which the server finds a row")
        within = order.equal(tuple(str(one) for one in key))
        kinds = [how for column, how in zip(table.columns, table.kinds, strict=True) if column.name in columns]
        names = [column.name for column in table.columns if column.name in columns]
        read = expressions([f"source.{quoted(name)}" for name in names], kinds, self._parts)
        statement = composed("read/rows", columns=read, table=qualified(table.name), within=within.condition)
        try:
            rows = execute(self._session, statement, {"scn": self._scn, **within.values})
        except oracledb.DatabaseError as error:
            if code_of(error) not in _CHANGED:
                raise
            raise LookupError(f"{table.name} was altered since") from None
        if not rows:
            return None
        return dict(zip(names, row_texts(rows[0], kinds), strict=True))
