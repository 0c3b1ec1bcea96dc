"""A slave that is a master as well: what we write there does not stay in that master's queue.

The triggers capture it as they capture everything, so the application's sessions pay nothing and nobody can switch the
capture off. The transaction that writes takes its own rows out of the queue before it ends, and nobody else sees them.
Where the server's log is read, the transaction begins with a mark: only who may write to the queue can set it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from psycopg import sql

from sluice.model.names import Resources, TableName
from sluice.vendors.postgresql.capture import install, own_ddl
from sluice.vendors.postgresql.capture.log.slot import commands_name
from sluice.vendors.postgresql.session import ALL_CHECKED, PURGE, Connection, composed, restore


class LoopFilter:
    """The changes that one of our transactions adds to queues of masters; created in it, before it writes.

    Args:
        masters: whose queues are not to hear of it, as far as they are in this database; none to let all of them hear.
    """

    def __init__(self, connection: Connection, masters: Collection[Resources]) -> None:
        self._connection = connection
        self._masters = masters
        self._first: dict[Resources, int] = {}
        installed = self._installed()
        if triggered := [master for master, (_, by_log) in installed.items() if not by_log]:
            # A master changes over to its log when nobody writes to its queue: not before we end.
            self._hold(triggered)
            installed = self._installed()
        for master, (last, by_log) in installed.items():
            self._first[master] = last
            if by_log:
                self._mark(master)
        self._others: dict[Resources, list[int]] = {}

    def expect_recorded(self, names: Sequence[TableName]) -> None:
        """Call before our DDL on these tables, if known. Raises TransientError SLC-036 or SLC-115."""
        for master in self._first:
            self._others[master] = own_ddl.expect_recorded(self._connection, install.parts_of(master), names)

    def record(self, names: Sequence[TableName] | None = None) -> None:
        """Call after our DDL on these tables, or on any: a master that polls must not take it for DDL of others."""
        for master in self._installed():
            parts = install.parts_of(master)
            if own_ddl.polls(self._connection, parts):
                own_ddl.record(self._connection, parts, names, self._others.get(master, ()))
            else:
                own_ddl.is_done(self._connection, parts)

    def remove(self) -> None:
        """Take it out of the queues; the transaction writes nothing else afterwards that is captured."""
        if not self._masters:
            return
        # What constraints and their triggers put off belongs to it. A queue is never analysed, and may be long.
        self._connection.execute(ALL_CHECKED)
        restore(self._connection)
        self._connection.execute(f"SET LOCAL enable_seqscan = off; {PURGE}")
        # Anew: one that was installed meanwhile has triggers on what we had not written to yet.
        for master in self._installed():
            queue = sql.Identifier(master.schema, master.name("queue"))
            self._connection.execute(
                composed("capture/registry/uncapture", queue=queue),
                {"first": self._first.get(master, 0)},
                prepare=False,
            )

    def _hold(self, masters: Collection[Resources]) -> None:
        queues = sql.SQL(", ").join(sql.Identifier(master.schema, master.name("queue")) for master in masters)
        self._connection.execute(sql.SQL("LOCK TABLE {} IN ROW EXCLUSIVE MODE").format(queues))

    def _mark(self, master: Resources) -> None:
        queue = sql.Identifier(master.schema, master.name("queue"))
        self._connection.execute(composed("capture/log/mark_own", queue=queue))

    def _installed(self) -> dict[Resources, tuple[int, bool]]:
        if not self._masters:
            return {}
        wanted = {
            "schemas": [master.schema for master in self._masters],
            "prefixes": [master.folded for master in self._masters],
            "publications": [commands_name(master) for master in self._masters],
        }
        rows = self._connection.execute(composed("write/masters"), wanted).fetchall()
        return {Resources(schema, prefix): (last, by_log) for schema, prefix, last, by_log in rows}
