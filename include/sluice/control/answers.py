"""Statements in the control store: what was issued, and what each node answered. WAITING -> OK or FAILED."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert

from sluice.control import replications
from sluice.control.store import Store
from sluice.control.tables import answer, audit, statement
from sluice.model.names import Pair
from sluice.model.position import Snapshot
from sluice.model.statement import Answer, Outcome, Statement

MASTER = ""


class Standing(StrEnum):
    """How far a statement is on a node."""

    WAITING = "WAITING"
    OK = "OK"
    FAILED = "FAILED"


@dataclass(frozen=True)
class Answered:
    """What one node said; `slave` is empty for the master."""

    slave: str
    status: Standing
    detail: str
    answer: Answer


def begin(store: Store, source: str, slaves: list[str], text: str, schema: str) -> int:
    """Keep a statement that is about to be executed, with who wants it; its number."""
    with store.begin() as connection:
        values = {"source": source, "actor": replications.actor(), "sql": text, "schema": schema}
        number = int(connection.execute(statement.insert().values(values).returning(statement.c.id)).scalar_one())
        nodes = [{"statement": number, "slave": slave, "status": Standing.WAITING} for slave in (MASTER, *slaves)]
        connection.execute(answer.insert(), nodes)
        note = {"source": source, "actor": replications.actor(), "event": "statement", "detail": f"{number}: {text}"}
        connection.execute(audit.insert().values(note))
    return number


def executed(store: Store, done: Statement, trans_key: str) -> None:
    """The master has executed it; the slaves follow."""
    with store.begin() as connection:
        connection.execute(statement.update().where(statement.c.id == done.id).values(trans_key=trans_key))
    _record(store, done.id, MASTER, Outcome(True, "", done.answer))


def refused(store: Store, number: int, why: str) -> None:
    """It failed on the master, so that no slave will see it."""
    with store.begin() as connection:
        connection.execute(answer.delete().where(answer.c.statement == number, answer.c.slave != MASTER))
    _record(store, number, MASTER, Outcome(False, why))


def answered(store: Store, pair: Pair, done: Statement, outcome: Outcome) -> None:
    """What became of it on a slave. A statement that the store does not know any more is nobody's question."""
    _record(store, done.id, pair.slave, outcome)


def covered(store: Store, pair: Pair, snapshot: Snapshot) -> None:
    """A slave's data was loaded anew: statements that the snapshot shows are in it, and will not come."""
    waiting = (
        select(statement.c.id, statement.c.trans_key)
        .join(answer, answer.c.statement == statement.c.id)
        .where(statement.c.source == pair.source, answer.c.slave == pair.slave, answer.c.status == Standing.WAITING)
    )
    with store.begin() as connection:
        rows = connection.execute(waiting).all()
    for number, trans_key in rows:
        if trans_key and snapshot.shows(trans_key):
            _record(store, number, pair.slave, Outcome(True, "the initial data have it"))


def answers(store: Store, number: int) -> list[Answered]:
    """What every node said so far, the master first."""
    with store.begin() as connection:
        rows = connection.execute(select(answer).where(answer.c.statement == number).order_by(answer.c.slave)).all()
    return [
        Answered(row.slave, Standing(row.status), row.detail, Answer.from_body(row.body) if row.body else Answer())
        for row in rows
    ]


def _record(store: Store, number: int, slave: str, outcome: Outcome) -> None:
    values = {
        "statement": number,
        "slave": slave,
        "status": Standing.OK if outcome.good else Standing.FAILED,
        "detail": outcome.detail,
        "body": asdict(outcome.answer),
        "at": func.clock_timestamp(),
    }
    known = select(statement.c.id).where(statement.c.id == number)
    with store.begin() as connection:
        if connection.execute(known).one_or_none():
            add = insert(answer).values(values)
            connection.execute(add.on_conflict_do_update(index_elements=["statement", "slave"], set_=values))
