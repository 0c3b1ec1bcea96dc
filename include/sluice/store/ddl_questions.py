"""Questions whether a slave carries a command of the master out: asked in Airflow, answered there or at a shell."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Row, and_, select
from sqlalchemy.dialects.postgresql import insert

from sluice import shell
from sluice.errors import SluiceError, sanitize
from sluice.model.ddl_question import DdlQuestion
from sluice.model.names import DECIDE, Pair
from sluice.model.row_conflict import RejectedChange
from sluice.outside_text import in_markdown_block, in_one_line, shorten
from sluice.state.ddl_question import TRANSITIONS, Decision, QuestionState
from sluice.store import pending_runs, rejected_changes, replications
from sluice.store.engine import Store
from sluice.store.pending_runs import PendingRun
from sluice.store.tables import for_pair, question


def put(store: Store, pair: Pair, asking: DdlQuestion, state: QuestionState) -> None:
    """Record a question; an earlier answer is void, since the slave is blocked by that command now."""
    values = {"source": pair.source, "slave": pair.slave, "key": asking.key, "ordinal": asking.ordinal}
    row: dict[str, object] = {"action": asking.action, "table": asking.table, "text": asking.text, "state": state}
    row |= {"doubts": list(asking.doubts)}
    kept = insert(question).values({**values, **row})
    with store.begin() as connection:
        connection.execute(kept.on_conflict_do_update(index_elements=["source", "slave", "key"], set_=row))
        if state is QuestionState.WAITING:
            # The id is the question's, so that it is asked once.
            conf = {"source": pair.source, "slave": pair.slave, "change": asking.key}
            pending_runs.put(connection, pair, PendingRun(DECIDE, _run(pair, asking.key), conf))
        replications.note(connection, pair, "question", sanitize(str(asking)))


def describe(store: Store, pair: Pair, key: int) -> dict[str, object]:
    """An open question for a page: `subject`, and `body` in Markdown.

    Raises:
        SluiceError: SLC-172, it waits for no decision any more.
    """
    with store.begin() as connection:
        row = connection.execute(select(question).where(for_pair(question, pair), question.c.key == key)).one_or_none()
    asking = replications.ddl_question(_open(row, pair, key, Decision.APPROVE))
    lines = [f"Slave **{pair.slave}** of {pair.source} waits in front of it.", "", "What the slave loses by it:", ""]
    lines += in_markdown_block("\n".join(asking.lost_data) or "nothing")
    if asking.doubts:
        lines += ["", "What the slave does not make by itself, since it may execute a text or reach outside:", ""]
        lines += in_markdown_block("\n".join(asking.doubts))
    if asking.statement:
        lines += ["", "What the master was sent:", "", *in_markdown_block(asking.statement)]
    subject = f"{asking.action.name} of {shorten(in_one_line(asking.table))} on {pair.slave}"
    return {"subject": subject, "body": "\n".join(lines)}


def open_question(store: Store, pair: Pair) -> tuple[DdlQuestion, str] | None:
    """The open question in front of a slave, and the run of the DAG `decide` that asks it; None if there is none.

    The run is empty if the question ended the drain: then it is answered at a shell alone.
    """
    open_ = question.c.state.in_([QuestionState.WAITING, QuestionState.STOPPED])
    with store.begin() as connection:
        chosen = select(question).where(for_pair(question, pair), open_).order_by(question.c.key).limit(1)
        row = connection.execute(chosen).one_or_none()
    if row is None:
        return None
    return replications.ddl_question(row), _run(pair, row.key) if row.state == QuestionState.WAITING else ""


def decisions(store: Store, pair: Pair) -> Mapping[int, bool]:
    """By their keys, the commands that were decided: whether the slave carries them out."""
    closed = question.c.state.in_([QuestionState.APPROVED, QuestionState.REJECTED])
    with store.begin() as connection:
        rows = connection.execute(
            select(question.c.key, question.c.state).where(for_pair(question, pair), closed)
        ).all()
    return {row.key: row.state == QuestionState.APPROVED for row in rows}


def decide(store: Store, pair: Pair, key: int, decision: Decision, who: str | None = None) -> DdlQuestion:
    """Say what becomes of a command; one that is rejected is kept, and can be carried out later.

    Raises:
        SluiceError: SLC-172, there is no such question, or it was decided before; nothing was changed.
    """
    which = and_(for_pair(question, pair), question.c.key == key)
    with store.begin() as connection:
        row = connection.execute(select(question).where(which).with_for_update()).one_or_none()
        row = _open(row, pair, key, decision)
        asking = replications.ddl_question(row)
        pending_runs.withdraw(connection, pair, DECIDE, _run(pair, key))
        connection.execute(question.update().where(which).values(state=TRANSITIONS[QuestionState(row.state), decision]))
        replications.note(connection, pair, decision, sanitize(str(asking)), who)
        if decision is Decision.REJECT:
            passed = RejectedChange(None, None, asking.action, asking.ordinal, key, [asking.text], None)
            rejected_changes.keep_in(connection, pair, [passed])
    return asking


def _open(row: Row[tuple[object, ...]] | None, pair: Pair, key: int, decision: Decision) -> Row[tuple[object, ...]]:
    if row is None or (QuestionState(row.state), decision) not in TRANSITIONS:
        raise SluiceError(
            172,
            f"nobody asks about change {key} of {pair}: {f'it is {row.state}' if row else 'there is no such question'}",
            f"nothing was changed; `{shell.dispatcher(pair)}` says what waits for a decision",
        )
    return row


def _run(pair: Pair, key: int) -> str:
    return f"{pair.source}__{pair.slave}__{key}"
