"""The LONG of a row whose change is published, or LONG RAW: no trigger can read it, so its address tells where it is.

It is read as of the sweep's change number. So when all that this shows is in the log, a row of the slave has the LONG
that the row of the master had then. A change before the last one of its row has that LONG, too, and not the one of its
own time. A row that is gone by then has none, and its DELETE follows. Another row may have its address by then, so the
row is the one of the change only if it has the same key: a row whose key became another one since has none, either.
Rows of a table with a LONG keep their address, since the server moves none: such a table has no partitions, and can be
neither moved nor shrunk.

Source: SQL Language Reference, "LONG Data Type", "flashback_query_clause"; "ALTER TABLE", "move_table_clause",
"shrink_clause"; Database Error Messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import oracledb

from sluice.model.names import TableName
from sluice.vendors.oracle.capture.queue.row_images import Cell
from sluice.vendors.oracle.errors import code_of
from sluice.vendors.oracle.names import composed, qualified, quoted
from sluice.vendors.oracle.session import execute
from sluice.vendors.oracle.types import Captured
from sluice.vendors.oracle.values import as_text, canonical

# A column was dropped since, or has another name; the row was in a segment that a TRUNCATE took away.
_NO_COLUMN, _NO_ROW = "ORA-00904", "ORA-01410"
_NO_TABLE = "ORA-00942"


@dataclass(frozen=True)
class KeyValue:
    """A column of a row's key, how it is read, and its canonical text."""

    name: str
    how: Captured
    text: Cell

    def is_of(self, value: object) -> bool:
        """Whether a row has it in which the server reads this."""
        try:
            return value is not None and canonical(self.how)(as_text(value)) == self.text
        except ValueError:
            return False


class LongReader:
    """Reads LONGs of rows as of a change number.

    Args:
        parts: the functions that some columns of keys are read by.
    """

    def __init__(self, session: oracledb.Connection, scn: int, parts: Mapping[str, str]) -> None:
        self._session = session
        self._scn = scn
        self._parts = parts

    def read(self, relation: int, table: TableName, column: str, place: str, key: Sequence[KeyValue]) -> Cell:
        """The LONG of the row with a key at an address; None if there is none.

        Args:
            relation: the number of the table, which it keeps when its name becomes another.
        """
        try:
            return self._read(table, column, place, key)
        except oracledb.DatabaseError as error:
            if code_of(error) != _NO_TABLE:
                raise
            names = execute(self._session, composed("capture/queue/named"), {"relation": relation})
            if not names:
                return None
            if (named := TableName(*names[0])) == table:
                # It is there, and not for us: a right was taken away.
                raise
        return self._read(named, column, place, key)

    def _read(self, table: TableName, column: str, place: str, key: Sequence[KeyValue]) -> Cell:
        of_key = [one.how.read.format(**self._parts, value=f"kept.{quoted(one.name)}") for one in key]
        values = ", ".join([f"kept.{quoted(column)}", *of_key])
        statement = composed("capture/queue/long", values=values, table=qualified(table))
        try:
            rows = execute(self._session, statement, {"place": place, "scn": self._scn})
        except oracledb.DatabaseError as error:
            if code_of(error) == _NO_COLUMN and key:
                # Of the key it may be: then the address has to do.
                return self._read(table, column, place, ())
            if code_of(error) not in (_NO_COLUMN, _NO_ROW):
                raise
            return None
        for value, *found in rows:
            if value is not None and all(one.is_of(text) for one, text in zip(key, found, strict=True)):
                return as_text(value)
        return None
