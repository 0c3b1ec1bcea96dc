"""Statements in the control store: what was issued, and what each node answered. WAITING -> OK or FAILED.

The master's commit is asked for only after its transaction is known here: so it can be found out later what became of
it, and a process that finds out that it was rolled back, before it was known, keeps it from being committed after all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.dialects.postgresql import insert

from sluice.errors import RolledBack
from sluice.model.names import Pair
from sluice.model.statement import (
    UNPLACED,
    Answer,
    IssuedStatement,
    NodeOutcome,
    Statement,
    TransactionOutcome,
    TransactionRef,
    WantedStatement,
)
from sluice.store import replications
from sluice.store.engine import Store
from sluice.store.tables import answer, audit, statement

MASTER = ""


class StatementStatus(StrEnum):
    """The status of a statement on a node."""

    WAITING = "WAITING"
    OK = "OK"
    FAILED = "FAILED"


@dataclass(frozen=True)
class NodeAnswer:
    """The answer of one node; `slave` is empty for the master."""

    slave: str
    status: StatementStatus
    detail: str
    answer: Answer
    at: datetime | None = None


def begin(
    store: Store, source: str, slaves: Sequence[str], wanted: WantedStatement, who: str = "", *, begun: bool = True
) -> int:
    """Keep a statement that is about to be executed, with who wants it; its number.

    Args:
        who: the person; the actor of this process, if nothing is said.
        begun: this process executes it; else a run is to take it up.
    """
    actor = who or replications.actor()
    with store.begin() as connection:
        values = {"source": source, "actor": actor, "begun": begun, **asdict(wanted)}
        number = int(connection.execute(statement.insert().values(values).returning(statement.c.id)).scalar_one())
        nodes = [
            {"statement": number, "slave": slave, "status": StatementStatus.WAITING} for slave in (MASTER, *slaves)
        ]
        connection.execute(answer.insert(), nodes)
        note = {"source": source, "actor": actor, "event": "statement", "detail": f"{number}: {wanted.sql}"}
        connection.execute(audit.insert().values(note))
    return number


def record_execution(store: Store, done: Statement, traced: TransactionRef) -> None:
    """Record that the master has executed a statement, before its commit.

    Raises:
        TransientError: SLC-108, somebody found its session gone meanwhile: it must not be committed.
    """
    with store.begin() as connection:
        open_ = answer.update().where(_matches(done.id, MASTER), answer.c.status == StatementStatus.WAITING)
        if not connection.execute(open_.values(body=asdict(done.answer))).rowcount:
            raise rollback_error(done.id, "its session was taken for lost")
        values = {"trans_key": traced.trans_key, "incarnation": traced.incarnation}
        connection.execute(statement.update().where(statement.c.id == done.id).values(values))


def record_commit(store: Store, number: int) -> None:
    """Record that the master has committed a statement; the slaves follow."""
    with store.begin() as connection:
        open_ = answer.update().where(_matches(number, MASTER), answer.c.status == StatementStatus.WAITING)
        connection.execute(open_.values(status=StatementStatus.OK, at=func.clock_timestamp()))


def record_refusal(store: Store, number: int, why: str) -> None:
    """Record that a statement failed on the master: no slave will see it."""
    with store.begin() as connection:
        connection.execute(answer.delete().where(answer.c.statement == number, answer.c.slave != MASTER))
    _record(store, number, MASTER, NodeOutcome(False, why))


def rollback_error(number: int, why: str) -> RolledBack:
    """The error of a statement that something which passes kept the master from executing."""
    return RolledBack(
        108,
        f"statement {number} was rolled back on the master: {why}",
        "nothing of it happened on any node; issue it again",
    )


def resolve(
    store: Store, number: int, fate: TransactionOutcome, why: str = "its session was lost before its commit"
) -> None:
    """Record the outcome of a statement's transaction on the master."""
    if fate is TransactionOutcome.COMMITTED:
        record_commit(store, number)
    elif fate is TransactionOutcome.ROLLED_BACK:
        record_refusal(store, number, f"rolled back, nothing of it happened: {why}; issue it again")
    elif fate is TransactionOutcome.UNKNOWN:
        detail = (
            "nobody can tell whether it was executed: the master was restored, or another took its place; look at its "
            "data before you issue it again"
        )
        with store.begin() as connection:
            open_ = answer.update().where(answer.c.statement == number, answer.c.status == StatementStatus.WAITING)
            connection.execute(open_.values(status=StatementStatus.FAILED, detail=detail, at=func.clock_timestamp()))


def unresolved_statements(store: Store, source: str) -> list[TransactionRef]:
    """Statements whose outcome on the master is still unknown."""
    columns = (statement.c.id, statement.c.trans_key, statement.c.incarnation)
    waiting = (answer.c.slave == MASTER, answer.c.status == StatementStatus.WAITING)
    wanted = select(*columns).join(answer, answer.c.statement == statement.c.id)
    with store.begin() as connection:
        rows = connection.execute(
            wanted.where(statement.c.source == source, statement.c.begun, *waiting).order_by(statement.c.id)
        ).all()
    return [TransactionRef(*row) for row in rows]


def find_issued(store: Store, source: str, number: int) -> IssuedStatement | None:
    """The statement that was issued for this source with this number, if any."""
    if not 0 < number < 2**63:
        return None
    columns = (statement.c.trans_key, statement.c.sql, statement.c.schema)
    wanted = select(*columns).where(statement.c.id == number, statement.c.source == source)
    with store.begin() as connection:
        row = connection.execute(wanted).one_or_none()
    return IssuedStatement(*row) if row else None


def set_trans_key(store: Store, number: int, token: str, trans_key: str) -> None:
    """Replace a token by the number of a statement's transaction."""
    with store.begin() as connection:
        this = and_(statement.c.id == number, statement.c.trans_key == token)
        connection.execute(statement.update().where(this).values(trans_key=trans_key))


def record_answer(store: Store, pair: Pair, done: Statement, outcome: NodeOutcome) -> None:
    """Record the outcome on a slave; ignored if the store does not know the statement any more."""
    with store.begin() as connection:
        # It is in the stream, so the master has committed it.
        open_ = answer.update().where(_matches(done.id, MASTER), answer.c.status == StatementStatus.WAITING)
        connection.execute(open_.values(status=StatementStatus.OK, body=asdict(done.answer), at=func.clock_timestamp()))
    _record(store, done.id, pair.slave, outcome)


def record_loaded(store: Store, pair: Pair, sees: Callable[[str], bool]) -> None:
    """Record statements whose effects a new initial update has brought: they will not come by the stream."""
    waiting = (
        select(statement.c.id, statement.c.trans_key)
        .join(answer, answer.c.statement == statement.c.id)
        .where(
            statement.c.source == pair.source, answer.c.slave == pair.slave, answer.c.status == StatementStatus.WAITING
        )
    )
    with store.begin() as connection:
        rows = connection.execute(waiting).all()
    for number, trans_key in rows:
        if trans_key and not trans_key.startswith(UNPLACED) and sees(trans_key):
            _record(store, number, pair.slave, NodeOutcome(True, "the initial data have it"))


def answers(store: Store, number: int) -> list[NodeAnswer]:
    """The answers of all nodes so far, the master first; empty for an unknown statement."""
    with store.begin() as connection:
        rows = connection.execute(select(answer).where(answer.c.statement == number).order_by(answer.c.slave)).all()
    return [
        NodeAnswer(
            row.slave,
            StatementStatus(row.status),
            row.detail,
            Answer.from_body(row.body) if row.body else Answer(),
            row.at,
        )
        for row in rows
    ]


def _matches(number: int, slave: str) -> ColumnElement[bool]:
    return and_(answer.c.statement == number, answer.c.slave == slave)


def _record(store: Store, number: int, slave: str, outcome: NodeOutcome) -> None:
    values = {
        "statement": number,
        "slave": slave,
        "status": StatementStatus.OK if outcome.good else StatementStatus.FAILED,
        "detail": outcome.detail,
        "body": asdict(outcome.answer),
        "at": func.clock_timestamp(),
    }
    known = select(statement.c.id).where(statement.c.id == number)
    with store.begin() as connection:
        if connection.execute(known).one_or_none():
            add = insert(answer).values(values)
            connection.execute(add.on_conflict_do_update(index_elements=["statement", "slave"], set_=values))
