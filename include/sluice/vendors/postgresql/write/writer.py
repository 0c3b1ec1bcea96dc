"""Writing runs of changes into a slave's tables, within the transaction of a batch.

What becomes of a table is staged and then written by sets; but where triggers of the slave are to see each change,
changes are written one by one. References decide in which order tables come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import psycopg
from psycopg import sql

from sluice.apply.net.effects import Effect, Run
from sluice.apply.row_changes import Image, RowChange, row_changes
from sluice.apply.table_order import parents_first
from sluice.config.mapper import Mapper
from sluice.connections import ConnectionInfo
from sluice.crash import CrashPoint, crash_if_asked
from sluice.errors import KeyConflict, SluiceError
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.row_conflict import ConflictAction, RejectedChange, RowConflict, Tolerated
from sluice.model.write_policy import WritePolicies, WritePolicy
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import Connection
from sluice.vendors.postgresql.write import merge
from sluice.vendors.postgresql.write.merge import StagedCounts
from sluice.vendors.postgresql.write.row_by_row import PreparedStatements, replay
from sluice.vendors.postgresql.write.staging import StagedTable, Stages
from sluice.vendors.postgresql.write.statement_limit import TableLimits, limit_of

_PLAIN = WritePolicy()
# What an index or an exclusion constraint says of values that another row has.
TAKEN = (psycopg.errors.UniqueViolation, psycopg.errors.ExclusionViolation)
_SAID = {RowConflict.MISSING: "missing", RowConflict.DUPLICATE: "there already"}


@dataclass(frozen=True)
class _Part:
    """The effect of a run on one table."""

    target: StagedTable
    effect: Effect
    policy: WritePolicy
    staged: StagedCounts

    @property
    def by_row(self) -> bool:
        """Whether its changes are written one by one."""
        return self.target.acting or self.policy.by_row or bool(self.target.searched)


class TableWriter:
    """The tables of a slave, as one session writes them.

    Attributes:
        limits: how long statements may take.
    """

    def __init__(self, connection: Connection, mapper: Mapper, info: ConnectionInfo) -> None:
        self.limits = TableLimits(connection, limit_of(info))
        self.stages = Stages(connection, mapper)
        self._connection = connection
        self._prepared: dict[str, PreparedStatements] = {}
        self.look_up()

    def look_up(self) -> None:
        """Learn which tables refer to which; again after DDL."""
        self._parents = relations.parents(self._connection)

    def forget(self) -> None:
        """Forget prepared statements, which this session has lost."""
        self._connection.execute("DEALLOCATE ALL")
        self._prepared.clear()

    def prepared(self, target: StagedTable, policy: WritePolicy = _PLAIN) -> PreparedStatements:
        """The statements by which changes of a table are written one by one; how does not change in a session."""
        if target.stage not in self._prepared:
            self._prepared[target.stage] = PreparedStatements(self._connection, target, policy)
        return self._prepared[target.stage]

    def write(self, run: Run, policies: WritePolicies, *, first: bool) -> Tolerated:
        """Write one run within a transaction. Returns which rows were not as expected.

        Args:
            manners: how changes of some tables are carried out.
            first: none was staged before it in this transaction.

        Raises:
            KeyConflict: SLC-072, a row of the slave, or of a later transaction, bears a key of this run.
            SluiceError: SLC-120, a row conflict with the action `stop`; SLC-121, conflicts cannot be detected.
            TooSlow: SLC-688, a statement takes too long.
        """
        with self.limits.hold(max((effect.rows for effect in run), default=0)):
            return self._write(run, policies, first=first)

    def _write(self, run: Run, policies: WritePolicies, *, first: bool) -> Tolerated:
        parts: dict[TableName, _Part] = {}
        self.stages.lock([effect.layout.name for effect in run])
        for effect in run:
            with translated(f"writing to {effect.layout.name}"):
                target = self.stages.target(effect.layout)
            parts[target.name] = part = _Part(target, effect, policies.for_table(target.name), StagedCounts())
            if part.by_row:
                _expect_alone(part)
                continue
            if not first:
                self._connection.execute(sql.SQL("TRUNCATE {}").format(sql.Identifier(target.stage)))
            for net, changes in effect.nets():
                part = replace(part, staged=part.staged.and_(merge.stage(self._connection, target, net, changes)))
            parts[target.name] = part
        crash_if_asked(CrashPoint.STAGED)
        order = [parts[name] for name in parents_first(parts, self._parents)]
        try:
            with self._connection.transaction():
                return self._written(order, policies, anew=False)
        except SluiceError as error:
            if not isinstance(error.__cause__, TAKEN):
                raise
        self.limits.begin_again()
        try:
            with self._connection.transaction():
                return self._written(order, policies, anew=True)
        except SluiceError as error:
            if isinstance(error.__cause__, TAKEN):
                raise _conflict(error.fact) from error
            raise

    def _written(self, order: Sequence[_Part], policies: WritePolicies, *, anew: bool) -> Tolerated:
        """Children first where rows go and parents first where they come. Rows not as expected."""
        session = self._connection
        tolerated = Tolerated()
        for part in reversed(order):
            target, staged = part.target, part.staged
            if part.by_row:
                continue
            self.limits.begin_table(target.name, part.effect.rows)
            if part.effect.is_emptied:
                merge.empty(session, target)
            if target.key:
                if anew or target.unchecked:
                    unexpected = merge.delete_all(session, target, staged)
                else:
                    unexpected = merge.delete_gone(session, target, staged) + merge.delete_doubled(session, target)
                tolerated += Tolerated() if part.effect.is_emptied else unexpected
        for part in order:
            target, staged = part.target, part.staged
            self.limits.begin_table(target.name, part.effect.rows)
            if part.by_row:
                tolerated += self._replayed(part, policies, anew=anew)
            elif not target.key:
                tolerated += merge.write_counts(session, target, staged)
            elif anew or target.unchecked:
                merge.insert_all(session, target, staged)
            else:
                tolerated += merge.write_changed(session, target, staged)
                merge.write_fresh(session, target, staged)
            if not part.by_row and (broken := merge.broken(session, target)):
                raise _conflict(f"writing to {target.name}: rows that came, and others, would break {broken}")
        return tolerated

    def _replayed(self, part: _Part, policies: WritePolicies, *, anew: bool) -> Tolerated:
        changes = chain.from_iterable(map(row_changes, part.effect.changes()))
        tolerated, found = replay(
            self._connection,
            self.prepared(part.target, part.policy),
            changes,
            replace=anew,
            coded=self.stages.coded,
            limit=self.limits.limit,
        )
        rejected = [_rejected(part.effect.layout, conflict, change) for conflict, change in found]
        for (conflict, _), one in zip(found, rejected, strict=True):
            if part.policy.action_for(conflict) is ConflictAction.STOP:
                raise SluiceError(
                    120,
                    f"a row of {part.target.name} is {_SAID[conflict]}, in front of change {one.repl_key} "
                    f"({one.action}) of transaction {one.ordinal}",
                    "put it right there, or let the configuration take it (warn, upsert, record); nothing is lost",
                )
        if rejected:
            policies.rejected(rejected)
        return tolerated


def _rejected(layout: Layout, conflict: RowConflict, change: RowChange) -> RejectedChange:
    new, old = _texts(change.new), _texts(change.old)
    return RejectedChange(layout, conflict, change.action, change.ordinal, change.repl_key, new, old)


def _texts(image: Image) -> list[str | None] | None:
    return None if image is None else [None if value is None else value.decode() for value in image]


def _expect_alone(part: _Part) -> None:
    """Raises SluiceError SLC-121 if changes of a table have to be carried out one by one, and cannot be."""
    target = part.target
    numbered = target.numbered or any(target.columns[index].numbered for index in target.key)
    unchecked = numbered or target.ruled or (target.key and not target.enforced)
    if not target.by_row or (part.policy.strict and unchecked):
        raise SluiceError(
            121,
            f"{target.name} cannot be written row by row, as searchable, on_missing, on_duplicate, before, after or "
            "more than 1,598 columns demand: it has a key that is checked late, or by no index there, a rule that "
            "fires always, or a column GENERATED ALWAYS AS IDENTITY",
            "take these settings out of the configuration, or alter the table there; nothing is lost",
        )


def _conflict(fact: str) -> KeyConflict:
    return KeyConflict(
        72,
        fact,
        "a row of the slave that did not come from the master bears this key: remove it, or fill the slave anew by "
        "initial_update; nothing is lost",
    )
