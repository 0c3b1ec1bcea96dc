"""The board of statements: what was asked for, and how far it is; and statements that wait for their run to begin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Row, func, select

from sluice.model.statement import WantedStatement
from sluice.store import audit_trail
from sluice.store.engine import Store
from sluice.store.statement_results import MASTER, NodeAnswer, StatementStatus, answers
from sluice.store.tables import answer, statement

PAGE = 25


@dataclass(frozen=True)
class StatementRecord:
    """A statement as the control store has it.

    Attributes:
        run: the run that is to execute it, as `dag/run`; empty if it was issued at a shell.
        begun: whether its execution has begun.
        status: of each node; the master's name is empty.
    """

    id: int
    source: str
    actor: str
    at: datetime
    wanted: WantedStatement
    run: str
    begun: bool
    status: Mapping[str, StatementStatus]


def page(
    store: Store, source: str, before: int | None, most: int = PAGE
) -> tuple[Sequence[StatementRecord], int | None]:
    """The newest statements of a source, and the number before which older ones are, if there are any."""
    wanted = select(statement).where(statement.c.source == source).order_by(statement.c.id.desc())
    if before is not None:
        wanted = wanted.where(statement.c.id < before)
    with store.begin() as connection:
        rows = connection.execute(wanted.limit(most + 1)).all()
        shown = [row.id for row in rows[:most]]
        nodes = select(answer.c.statement, answer.c.slave, answer.c.status).where(answer.c.statement.in_(shown))
        status: dict[int, dict[str, StatementStatus]] = defaultdict(dict)
        for number, slave, code in connection.execute(nodes.order_by(answer.c.slave)):
            status[number][slave] = StatementStatus(code)
    return [_statement_record(row, status[row.id]) for row in rows[:most]], shown[-1] if len(rows) > most else None


def find(store: Store, source: str, number: int) -> tuple[StatementRecord, Sequence[NodeAnswer]] | None:
    """A statement of this source, and what its nodes answered, the master first; None if there is none."""
    if not 0 < number < 2**63:
        return None
    with store.begin() as connection:
        wanted = select(statement).where(statement.c.id == number, statement.c.source == source)
        row = connection.execute(wanted).one_or_none()
    if row is None:
        return None
    node_answers = answers(store, number)
    return _statement_record(row, {node.slave: node.status for node in node_answers}), node_answers


def entrust(store: Store, number: int, run: str) -> None:
    """Keep which run is to execute a statement."""
    with store.begin() as connection:
        connection.execute(statement.update().where(statement.c.id == number).values(run=run))


def take_up(store: Store, number: int) -> bool:
    """Begin to execute a statement; False if it was begun before, or withdrawn."""
    waits = answer.c.status == StatementStatus.WAITING
    mine = select(answer.c.statement).where(answer.c.statement == number, answer.c.slave == MASTER, waits)
    begin = statement.update().where(statement.c.id == number, ~statement.c.begun, statement.c.id.in_(mine))
    with store.begin() as connection:
        return bool(connection.execute(begin.values(begun=True)).rowcount)


def withdraw(store: Store, number: int, who: str, why: str) -> bool:
    """End a statement that no run has begun; False if one has, or it is ended. It reaches no node."""
    with store.begin() as connection:
        # One row decides who comes first: the run, or who withdraws it.
        begin = statement.update().where(statement.c.id == number, ~statement.c.begun).values(begun=True)
        if not connection.execute(begin.returning(statement.c.source)).scalar_one_or_none():
            return False
        connection.execute(answer.delete().where(answer.c.statement == number, answer.c.slave != MASTER))
        ended = {"status": StatementStatus.FAILED, "detail": why, "at": func.clock_timestamp()}
        connection.execute(answer.update().where(answer.c.statement == number).values(ended))
    audit_trail.note(store, "withdraw", who, f"statement {number}: {why}")
    return True


def _statement_record(row: Row[tuple[object, ...]], status: Mapping[str, StatementStatus]) -> StatementRecord:
    wanted = WantedStatement(row.sql, row.schema, row.varying, row.max_rows, row.hurried)
    return StatementRecord(row.id, row.source, row.actor, row.at, wanted, row.run, row.begun, status)
