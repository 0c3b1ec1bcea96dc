"""Savepoints of a transaction in the log.

If it also wrote to a table without transactions, the log has what it took back, and that it did so.
"""

from __future__ import annotations

from sluice.vendors.mariadb.capture.binlog.batch_rows import BatchRows
from sluice.vendors.mariadb.capture.binlog.byte_reader import Malformed
from sluice.vendors.mariadb.capture.binlog.definitions import Bound, Definition
from sluice.vendors.mariadb.capture.binlog.statements import NotUnderstood


class Savepoints:
    """Those of one transaction: how many changes were given in front of each.

    A trigger has savepoints of its own, which are gone when it ends. The log has them like others, and no end of them.
    """

    def __init__(self) -> None:
        self._known: dict[str, set[int]] = {}
        self._is_clear = True

    def meets(self, said: Definition, taken: int, rows: BatchRows, *, counts: bool) -> None:
        """A statement that sets one, or that takes back what is behind one.

        Nobody asks about one that takes back nothing that is given, as in the transaction of a tenant.

        Args:
            taken: the changes that are given already, in front of `rows`.
            counts: rows of the transaction are changes.

        Raises:
            NotUnderstood: it is not certain which rows do not count, or they are given already.
            Malformed: the transaction has none that count.
        """
        # The server takes letters for the same that it knows how to compare; names that differ in blanks at their end
        # are two, and taken for one here, which is at most not certain.
        self._is_clear = self._is_clear and said.savepoint.isascii()
        name = said.savepoint.lower().rstrip(" ")
        if said.bound is Bound.SAVES:
            self._known.setdefault(name, set()).add(taken + len(rows.last))
            return
        places = self._known.get(name, set())
        if not counts:
            raise Malformed("a part of a statement is rolled back")
        if len(places) != 1 or not self._is_clear:
            raise NotUnderstood("a part of a transaction is rolled back, and it is not certain which")
        (kept,) = places
        if kept < taken:
            raise NotUnderstood("a part of a long transaction is rolled back")
        rows.cut(kept - taken)
        # Those that were set behind it are gone.
        self._known = {one: {place for place in known if place <= kept} for one, known in self._known.items()}
