"""Questions whether a slave carries a command of the master out: asked in Airflow, answered there or at a shell."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Row, and_, select
from sqlalchemy.dialects.postgresql import insert

from sluice import shell
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.model.ddl_question import Asking
from sluice.model.names import Pair
from sluice.model.row_conflict import Rejected
from sluice.state.ddl_question import TRANSITIONS, Answer, Question
from sluice.store import rejected_changes, replications
from sluice.store.engine import Store
from sluice.store.tables import of, question

DAG = "decide"


def put(store: Store, pair: Pair, asking: Asking, state: Question) -> None:
    """Keep a question; whatever became of it before, the slave stands in front of that command now."""
    values = {"source": pair.source, "slave": pair.slave, "key": asking.key, "ordinal": asking.ordinal}
    told = {"action": asking.action, "table": asking.table, "text": asking.text, "state": state, "run": None}
    kept = insert(question).values({**values, **told})
    with store.begin() as connection:
        connection.execute(kept.on_conflict_do_update(index_elements=["source", "slave", "key"], set_=told))
        replications.note(connection, pair, "question", str(asking))


def ask(context: Context, pair: Pair) -> None:
    """Have Airflow ask people what waits, once; without an answer of Airflow the next run tries again."""
    runs = context.runs()
    with context.store.begin() as connection:
        waiting = connection.execute(
            select(question.c.key).where(
                of(question, pair), question.c.state == Question.WAITING, question.c.run.is_(None)
            )
        )
        keys = list(waiting.scalars())
    for key in keys:
        # The id is the question's, so that it is asked once.
        run = f"{pair.source}__{pair.slave}__{key}"
        if runs.ask_for(DAG, run, {"source": pair.source, "slave": pair.slave, "change": key}):
            with context.store.begin() as connection:
                connection.execute(question.update().where(of(question, pair), question.c.key == key).values(run=run))


def shown(store: Store, pair: Pair, key: int) -> dict[str, object]:
    """A question that nobody has decided, as a page shows it: `subject`, and `body` in Markdown.

    Raises:
        SluiceError: SLC-172, nobody asks for it any more.
    """
    with store.begin() as connection:
        row = connection.execute(select(question).where(of(question, pair), question.c.key == key)).one_or_none()
    asking = replications.asked(_open(row, pair, key, Answer.APPROVE))
    lines = [f"Slave **{pair.slave}** of {pair.source} waits in front of it.", "", "What the slave loses by it:", ""]
    lines += [f"* {one}" for one in asking.lost or ("nothing",)]
    if asking.statement:
        lines += ["", "What the master was sent:", "", *(f"    {line}" for line in asking.statement.splitlines())]
    return {"subject": f"{asking.action.name} of {asking.table} on {pair.slave}", "body": "\n".join(lines)}


def decided(store: Store, pair: Pair) -> Mapping[int, bool]:
    """By their keys, the commands that were decided: whether the slave carries them out."""
    closed = question.c.state.in_([Question.APPROVED, Question.REJECTED])
    with store.begin() as connection:
        rows = connection.execute(select(question.c.key, question.c.state).where(of(question, pair), closed)).all()
    return {row.key: row.state == Question.APPROVED for row in rows}


def decide(store: Store, pair: Pair, key: int, said: Answer, who: str | None = None) -> Asking:
    """Say what becomes of a command; one that is rejected is kept, and can be carried out later.

    Raises:
        SluiceError: SLC-172, there is no such question, or it was decided before; nothing was changed.
    """
    which = and_(of(question, pair), question.c.key == key)
    with store.begin() as connection:
        row = connection.execute(select(question).where(which).with_for_update()).one_or_none()
        row = _open(row, pair, key, said)
        asking = replications.asked(row)
        connection.execute(question.update().where(which).values(state=TRANSITIONS[Question(row.state), said]))
        replications.note(connection, pair, said, str(asking), who)
        if said is Answer.REJECT:
            passed = Rejected(None, None, asking.action, asking.ordinal, key, [asking.text], None)
            rejected_changes.keep_in(connection, pair, [passed])
    return asking


def _open(row: Row[tuple[object, ...]] | None, pair: Pair, key: int, said: Answer) -> Row[tuple[object, ...]]:
    if row is None or (Question(row.state), said) not in TRANSITIONS:
        raise SluiceError(
            172,
            f"nobody asks about change {key} of {pair}: {f'it is {row.state}' if row else 'there is no such question'}",
            f"nothing was changed; `{shell.dispatcher(pair)}` says what waits for a decision",
        )
    return row
