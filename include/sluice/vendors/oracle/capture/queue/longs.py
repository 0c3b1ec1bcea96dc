"""The LONG of a row whose change is published, or LONG RAW: no trigger can read it, so its address tells where it is.

It is read as of the sweep's change number. So when all that this shows is in the log, a row of the slave has the LONG
that the row of the master had then. A change before the last one of its row has that LONG, too, and not the one of its
own time. A row that is gone by then has none, and its DELETE follows. Rows of a table with a LONG keep their address,
since the server moves none: such a table has no partitions, and can be neither moved nor shrunk.

Source: SQL Language Reference, "LONG Data Type", "flashback_query_clause"; "ALTER TABLE", "move_table_clause",
"shrink_clause"; Database Error Messages.
"""

from __future__ import annotations

import oracledb

from sluice.model.names import TableName
from sluice.vendors.oracle.capture.queue.row_images import Cell
from sluice.vendors.oracle.errors import code_of
from sluice.vendors.oracle.names import composed, qualified, quoted
from sluice.vendors.oracle.session import execute

# The column was dropped since; the row was in a segment that a TRUNCATE took away.
_NO_SUCH_VALUE = ("ORA-00904", "ORA-01410")
_NO_TABLE = "ORA-00942"


class Longs:
    """The LONGs of rows as of a change number."""

    def __init__(self, session: oracledb.Connection, scn: int) -> None:
        self._session = session
        self._scn = scn

    def read(self, relation: int, table: TableName, column: str, place: str) -> Cell:
        """The LONG of the row at an address; None if there is none.

        Args:
            relation: the number of the table, which it keeps when its name becomes another.
        """
        try:
            return self._read(table, column, place)
        except oracledb.DatabaseError as error:
            if code_of(error) != _NO_TABLE:
                raise
            names = execute(self._session, composed("capture/queue/named"), {"relation": relation})
            if not names:
                return None
            if (named := TableName(*names[0])) == table:
                # It is there, and not for us: a right was taken away.
                raise
        return self._read(named, column, place)

    def _read(self, table: TableName, column: str, place: str) -> Cell:
        statement = composed("capture/queue/long", column=quoted(column), table=qualified(table))
        try:
            rows = execute(self._session, statement, {"place": place, "scn": self._scn})
        except oracledb.DatabaseError as error:
            if code_of(error) not in _NO_SUCH_VALUE:
                raise
            return None
        value = rows[0][0] if rows else None
        return f"\\x{value.hex()}" if isinstance(value, bytes) else value
