"""Savepoints of a transaction in the log.

If it also wrote to a table without transactions, the log has what it took back, and that it did so.
"""

from __future__ import annotations

from sluice.vendors.mariadb.capture.binlog.batch_rows import BatchRows
from sluice.vendors.mariadb.capture.binlog.definitions import Bound, Definition
from sluice.vendors.mariadb.capture.binlog.events import Malformed


class Savepoints:
    """Those of one transaction: how many changes were given in front of each."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._is_clear = True

    def meets(self, said: Definition, taken: int, rows: BatchRows, *, counts: bool) -> None:
        """A statement that sets one, or that takes back what is behind one.

        Args:
            taken: the changes that are given already, in front of `rows`.
            counts: rows of the transaction are changes.

        Raises:
            Malformed: it is not certain which rows do not count, or they are given already.
        """
        # The server takes letters for the same that it knows how to compare.
        self._is_clear = self._is_clear and said.savepoint.isascii()
        name = said.savepoint.lower().rstrip(" ")
        if said.bound is Bound.SAVES:
            self._known[name] = taken + len(rows.last)
            return
        kept = self._known.get(name)
        if kept is None or not (self._is_clear and counts):
            raise Malformed("a part of a transaction is rolled back, and it is not certain which")
        if kept < taken:
            raise Malformed("a part of a long transaction is rolled back")
        rows.cut(kept - taken)
