"""Writing runs of changes into a slave's tables, within the transaction of a batch.

What becomes of a table is staged and then written by sets; but where triggers of the slave are to see each change,
changes are written one by one. References decide in which order tables come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
import pyarrow as pa
from psycopg import sql

from sluice.apply.grouping import row_changes
from sluice.apply.mapper import Mapper
from sluice.apply.net import KeyedNet, Net
from sluice.apply.order import parents_first
from sluice.crash import CrashPoint, reached
from sluice.errors import KeyConflict, SluiceError
from sluice.model.names import TableName
from sluice.model.tolerance import Tolerated
from sluice.vendors.postgresql import catalog, merging
from sluice.vendors.postgresql.replaying import Prepared, replay
from sluice.vendors.postgresql.session import Connection
from sluice.vendors.postgresql.staging import Stages, Target

Run = Sequence[tuple[Net, pa.Table]]


@dataclass(frozen=True)
class _Part:
    """What a run brings to one table."""

    target: Target
    net: Net
    changes: pa.Table


class Writer:
    """The tables of a slave, as one session writes them."""

    def __init__(self, connection: Connection, mapper: Mapper) -> None:
        self.stages = Stages(connection, mapper)
        self._connection = connection
        self._prepared: dict[str, Prepared] = {}
        self.look_up()

    def look_up(self) -> None:
        """Learn which tables refer to which; again after DDL."""
        self._parents = catalog.parents(self._connection)

    def prepared(self, target: Target) -> Prepared:
        """The statements by which changes of a table are written one by one."""
        if target.stage not in self._prepared:
            self._prepared[target.stage] = Prepared(self._connection, target)
        return self._prepared[target.stage]

    def write(self, run: Run, *, first: bool) -> Tolerated:
        """Write one run. Returns which rows were not as expected.

        Args:
            first: none was staged before it in this transaction.

        Raises:
            KeyConflict: SLC-072, a row of the slave, or of a later transaction, bears a key of this run.
        """
        parts: dict[TableName, _Part] = {}
        self.stages.hold([net.layout.name for net, _ in run])
        for net, changes in run:
            target = self.stages.target(net.layout)
            parts[target.name] = _Part(target, net, changes)
            if target.acting:
                continue
            if not first:
                self._connection.execute(sql.SQL("TRUNCATE {}").format(sql.Identifier(target.stage)))
            if isinstance(net, KeyedNet):
                merging.stage_keyed(self._connection, target, net, changes)
            else:
                merging.stage_counted(self._connection, target, net)
        reached(CrashPoint.STAGED)
        order = [parts[name] for name in parents_first(parts, self._parents)]
        try:
            with self._connection.transaction():
                return self._written(order, replace=False)
        except SluiceError as error:
            if not isinstance(error.__cause__, psycopg.errors.UniqueViolation):
                raise
        try:
            with self._connection.transaction():
                return self._written(order, replace=True)
        except SluiceError as error:
            if isinstance(error.__cause__, psycopg.errors.UniqueViolation):
                raise _conflict(error) from error
            raise

    def _written(self, order: Sequence[_Part], *, replace: bool) -> Tolerated:
        """Children first where rows go and parents first where they come. Rows not as expected."""
        session = self._connection
        tolerated = Tolerated()
        for part in reversed(order):
            target, net = part.target, part.net
            if target.acting:
                continue
            if net.emptied:
                merging.empty(session, target)
            if isinstance(net, KeyedNet):
                remove = merging.delete_all if replace or target.unchecked else merging.delete_gone
                unexpected = remove(session, target, net)
                tolerated += Tolerated() if net.emptied else unexpected
        for part in order:
            target, net = part.target, part.net
            if target.acting:
                tolerated += replay(session, self.prepared(target), row_changes(part.changes), replace=replace)
            elif not isinstance(net, KeyedNet):
                tolerated += merging.write_counts(session, target, net)
            elif replace or target.unchecked:
                merging.insert_all(session, target, net)
            else:
                tolerated += merging.write_changed(session, target, net)
                merging.write_fresh(session, target, net)
        return tolerated


def _conflict(error: SluiceError) -> KeyConflict:
    return KeyConflict(
        72,
        error.fact,
        "a row of the slave that did not come from the master bears this key: remove it, or fill the slave anew by "
        "initial_update; nothing is lost",
    )
