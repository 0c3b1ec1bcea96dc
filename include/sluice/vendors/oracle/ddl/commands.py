"""The commands of the master on a slave: their intents, and their execution under the fence (R3, R6).

A command commits, so it cannot be in the transaction that holds the fence. But it can be in an autonomous transaction
of the same session. So the fence is held while it is executed: who takes over waits, and none begins once it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import oracledb

from sluice.config.mapper import Mapper
from sluice.errors import AGAIN, TransientError, UnclassifiedError
from sluice.model.action import Existing
from sluice.model.names import Pair, TableName
from sluice.model.position import Position
from sluice.model.table_definition import TableChange
from sluice.vendors.committed_ddl import CommittedDdl, Intent, Plan, State, key_of, tables_of
from sluice.vendors.oracle import fence
from sluice.vendors.oracle.ddl.plan import OraclePlanner, rows_of
from sluice.vendors.oracle.errors import code_of, explained
from sluice.vendors.oracle.names import composed, qualified
from sluice.vendors.oracle.session import changed, execute, transaction
from sluice.vendors.protocol.ddl_errors import failed

# Somebody has done it in that moment: what is there, is not, or is so already. Whether that is all of it, the catalog
# says. Source: Database Error Messages.
_DONE_ALREADY = ("ORA-00904", "ORA-00942", "ORA-00955", "ORA-00957", "ORA-01430", "ORA-01442", "ORA-01451", "ORA-02260")


class OracleCommands(CommittedDdl):
    """See `CommittedDdl`. Its session is that of the slave."""

    def __init__(
        self, session: oracledb.Connection, pair: Pair, schema: str, mapper: Mapper, parts: Mapping[str, str]
    ) -> None:
        super().__init__(pair)
        self._session = session
        self._parts = parts
        self._names = {"source": pair.source, "slave": pair.slave}
        # The intent that is written down, as far as this job knows.
        self._recorded: str | None = None
        self._planner = OraclePlanner(session, pair, schema, mapper)

    def begin(self) -> None:
        """Read what an earlier job began. The fence is raised, so none of that is executed any more."""
        self._recorded = self._intended()
        self.intent = Intent.from_json(self._recorded) if self._recorded else None

    def expect_known(self) -> None:
        """See that what is written down is what this job knows: rows in front of an intent are not to come twice.

        Raises:
            TransientError: SLC-083, a commit succeeded, and its answer was lost.
        """
        if self._intended() != self._recorded:
            raise TransientError(
                83,
                f"slave {self.pair.slave} has another command of the master written down than this job knows of: the "
                "answer to a commit was lost",
                AGAIN,
            )

    def _intended(self) -> str | None:
        rows = execute(self._session, composed("ddl/intended", **self._parts), self._names)
        return str(rows[0][0]) if rows else None

    def planned(self, change: TableChange, existing: Existing) -> Plan | None:
        """See `CommittedDdl`."""
        return self._planner.planned(change, existing)

    def resumed(self, change: TableChange, existing: Existing, begun: Intent) -> Plan | None:
        """See `CommittedDdl`. An ALTER goes on from the state in which its table is."""
        assert begun.after is not None
        now = self.state(tables_of(begun.after))
        if change.before is None or change.after is None or now == begun.before[0]:
            return self.planned(change, existing)
        plan = self._planner.planned(change, existing, begun.before[0])
        if plan is None or (plan.before, plan.after) != (begun.before, begun.after):
            # The configuration is another one since.
            raise self.neither(begun.before[0], begun.after, now)
        return plan

    def finishing(self, change: TableChange) -> tuple[str, ...]:
        """See `CommittedDdl`."""
        return self._planner.finishing(change)

    def state(self, tables: Sequence[TableName]) -> State:
        """See `CommittedDdl`."""
        return {key_of(name): rows_of(self._session, name) for name in tables}

    def intend(self, plan: Plan, intent: Intent) -> None:
        """In the transaction of the rows in front of a command: write down that it comes."""
        for name in plan.emptied:
            changed(self._session, composed("write/empty", table=qualified(name)))
        if plan.commits:
            changed(self._session, composed("ddl/forget", **self._parts), self._names)
            with self._session.cursor() as cursor:
                cursor.setinputsizes(intended=oracledb.DB_TYPE_CLOB)
                values = {**self._names, "intended": intent.to_json()}
                cursor.execute(composed("ddl/intend", **self._parts), values)

    def execute(self, plan: Plan, intent: Intent, epoch: int) -> None:
        """Carry it out; its intent is committed.

        Raises:
            FencedError: SLC-050, somebody took over. Nothing of it was executed.
            SluiceError: SLC-140, the server refuses it; SLC-565, its table is not as it was planned.
        """
        self.intent, self._recorded = intent, intent.to_json()
        with transaction(self._session):
            fence.lock_fence(self._session, self._parts, self.pair, epoch)
            try:
                self._carry_out(plan)
            except oracledb.Error as error:
                doing = f"defining {', '.join(intent.tables)} as the master does"
                meant = explained(error, doing)
                if not isinstance(meant, UnclassifiedError):
                    raise meant from error
                raise failed(meant) from error
        self.done()

    def _carry_out(self, plan: Plan) -> None:
        if plan.after is not None:
            states = [*plan.before, plan.after]
            now = self.state(tables_of(plan.after))
            if now not in states:
                raise self.neither(states[0], plan.after, now)
            done = states.index(now)
            # Of what is done there is no statement.
            for statement, then in zip(plan.statements[done:], states[done + 1 :], strict=False):
                self._define(statement, then)
        for statement in plan.finishing:
            self._define(statement)

    def _define(self, statement: str, then: State | None = None) -> None:
        """Execute one statement.

        Args:
            then: how its tables are after it.
        """
        try:
            with self._session.cursor() as cursor:
                cursor.setinputsizes(statement=oracledb.DB_TYPE_CLOB)
                cursor.execute(composed("ddl/carry_out"), {"statement": statement})
        except oracledb.DatabaseError as error:
            if code_of(error) not in _DONE_ALREADY or then is None or self.state(tables_of(then)) != then:
                raise

    def forget_behind(self, end: Position) -> None:
        """In the transaction that moves the position there: a command that it is past is no intent."""
        if self.intent is not None and self.intent.ordinal <= end.ordinal:
            execute(self._session, composed("ddl/forget", **self._parts), self._names)

    def is_at(self, end: Position) -> None:
        """That transaction is committed."""
        if self.intent is not None and self.intent.ordinal <= end.ordinal:
            self.intent = self._recorded = None
