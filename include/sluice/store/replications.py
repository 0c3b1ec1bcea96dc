"""The state of each replication: the one place that writes it, by compare-and-set, with an audit trail."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from sluice import hints, log, shell
from sluice.errors import SluiceError, TransientError, sanitize
from sluice.model.action import Action
from sluice.model.ddl_question import DdlQuestion
from sluice.model.names import APPROVE_LOSSES, Pair, TableName
from sluice.model.position import Position
from sluice.model.row_conflict import Tolerated, conflict_counts
from sluice.state.ddl_question import QuestionState
from sluice.state.dispatcher import Hold
from sluice.state.replication import UNDER_WAY, IllegalEvent, ReplicationEvent, Status, after
from sluice.store import known_differences, pending_runs, table_files
from sluice.store.engine import Store, is_new
from sluice.store.tables import (
    REMOVED_UNSEEN,
    audit,
    for_pair,
    hold,
    question,
    rejected,
    replication,
    segment,
    skipped,
    stuck,
    tolerated,
)

_SHOWN = f"`{shell.status()}` says where it stands"
_OVER = f"the update was given up, or another took its place; {_SHOWN}"
_HINTS = {
    ReplicationEvent.REQUEST: f"nothing was changed; an initial update is under way; {_SHOWN}",
    ReplicationEvent.DUMPED: _OVER,
    ReplicationEvent.FAIL: f"nothing was changed; {_SHOWN}",
    ReplicationEvent.CANCEL: f"nothing was changed; only an update that is under way can be cancelled; {_SHOWN}",
    ReplicationEvent.CLEAR: f"nothing was changed; an initial update needs what waits; {_SHOWN}",
    ReplicationEvent.BREAK: f"nothing was changed; {_SHOWN}",
    ReplicationEvent.VERIFIED: f"only an update in TRANSITION ends in NORMAL; {_SHOWN}",
}


@dataclass(frozen=True)
class ReplicationState:
    """A replication as the store knows it."""

    pair: Pair
    status: Status
    position: Position
    delivered_at: datetime | None
    update_id: int | None


@dataclass(frozen=True)
class HoldNote:
    """A hold of a gate: who shut it, why, and since when."""

    kind: Hold
    actor: str
    reason: str
    since: datetime


def actor() -> str:
    """The actor for the audit log: the DAG run of a job, or the user of the shell."""
    return os.environ.get(shell.RUN_ENV) or os.environ.get("USER") or "sluice"


def get(store: Store, pair: Pair) -> ReplicationState:
    """The replication; UNCONFIGURED if nothing was ever done with it."""
    with store.begin() as connection:
        row = connection.execute(select(replication).where(for_pair(replication, pair))).one_or_none()
    if row is None:
        return ReplicationState(pair, Status.UNCONFIGURED, Position(0, 0), None, None)
    return ReplicationState(
        pair, Status(row.status), Position(row.segment, row.ordinal), row.delivered_at, row.update_id
    )


def record(
    store: Store,
    pair: Pair,
    event: ReplicationEvent,
    detail: str = "",
    *,
    update_id: int | None = None,
    who: str | None = None,
    also: Callable[[Connection], None] = lambda _: None,
) -> tuple[Status, Status]:
    """Record an event: the statuses before and after. An update that ends by it holds the gate no longer.

    Args:
        also: done in the same transaction.

    Raises:
        SluiceError: SLC-020 if the status does not allow it, or SLC-021 if the update named is not the current one.
    """
    with store.begin() as connection:
        statuses = _record(connection, pair, event, detail, update_id, who)
        also(connection)
    return statuses


def record_in(connection: Connection, pair: Pair, event: ReplicationEvent, detail: str) -> None:
    """The same, in the caller's transaction."""
    _record(connection, pair, event, detail, None, None)


def try_record(
    store: Store,
    pair: Pair,
    event: ReplicationEvent,
    detail: str = "",
    *,
    update_id: int | None,
    who: str | None = None,
    also: Callable[[Connection], None] = lambda _: None,
) -> bool:
    """Record an event of an update, unless that is over: late jobs change nothing. Whether it was recorded.

    Args:
        also: done in the same transaction.
    """
    try:
        with store.begin() as connection:
            _record(connection, pair, event, detail, update_id, who)
            also(connection)
    except TransientError:
        raise
    except SluiceError as error:
        log.event("left alone", slave=pair.slave, update=update_id, why=error.fact)
        return False
    return True


def request(store: Store, pairs: Sequence[Pair], update_id: int) -> None:
    """Let an update of all these begin, which holds their gates, or of none.

    Raises:
        SluiceError: SLC-020 if the status of one of them does not allow it.
    """
    with store.begin() as connection:
        for pair in pairs:
            _record(connection, pair, ReplicationEvent.REQUEST, "", update_id, None)
            _shut(connection, pair, Hold.INITIAL, f"initial update {update_id}")
            # Nobody asks any more about the columns that refused an earlier one.
            pending_runs.withdraw(connection, pair, APPROVE_LOSSES)


def shut(store: Store, pair: Pair, kind: Hold, reason: str, who: str | None = None) -> None:
    """Hold the gate for a reason of this kind, if it is not held for one already."""
    with store.begin() as connection:
        _shut(connection, pair, kind, reason, who)


def restate(store: Store, pair: Pair, kind: Hold, reason: str) -> None:
    """Say anew why the gate is shut, if it is for a reason of this kind: what it stood in front of is gone."""
    with store.begin() as connection:
        which = for_pair(hold, pair), hold.c.kind == kind
        connection.execute(hold.update().where(*which).values(reason=reason))


def lift(store: Store, pair: Pair, kind: Hold, reason: str, who: str | None = None) -> bool:
    """Take one reason away; whether it was there."""
    with store.begin() as connection:
        return _lift(connection, pair, kind, reason, who)


def open_gate(store: Store, pair: Pair, update_id: int | None, reason: str) -> bool:
    """Let an update hold the gate no longer; False if it is over, and another one may."""
    with store.begin() as connection:
        row = connection.execute(select(replication).where(for_pair(replication, pair)).with_for_update()).one()
        ours = row.status in UNDER_WAY and row.update_id == update_id
        if ours:
            _lift(connection, pair, Hold.INITIAL, reason)
    return ours


def holds(store: Store, pair: Pair) -> dict[Hold, HoldNote]:
    """Every reason for which the gate is shut."""
    undecided = (for_pair(question, pair), question.c.state == QuestionState.WAITING)
    with store.begin() as connection:
        rows = connection.execute(select(hold).where(for_pair(hold, pair))).all()
        waiting = connection.execute(select(question).where(*undecided).order_by(question.c.key).limit(1)).one_or_none()
    notes = {Hold(row.kind): HoldNote(Hold(row.kind), row.actor, row.reason, row.since) for row in rows}
    if waiting:
        notes[Hold.APPROVAL] = approval(pair, waiting)
    return notes


def approval(pair: Pair, waiting: Any) -> HoldNote:
    """The hold of a question that waits for its answer, by its row."""
    reason = f"{sanitize(str(ddl_question(waiting)))}\nHINT: {hints.for_question(pair, waiting.key)}"
    return HoldNote(Hold.APPROVAL, "its drain", reason, waiting.since)


def ddl_question(row: Any) -> DdlQuestion:
    """The question of a row of `question`."""
    return DdlQuestion(row.ordinal, row.key, Action(row.action), row.table, row.text, tuple(row.doubts))


def record_delivery(
    store: Store, pair: Pair, position: Position, conflicts: Tolerated | None = None, batch_s: float | None = None
) -> None:
    """Record what the slave has made durable; the log may be trimmed below it (R3). Never goes back.

    Args:
        conflicts: rows that were not as expected since the last time.
        batch_s: so long the last batch took, if a drain delivered it.
    """
    with store.begin() as connection:
        connection.execute(
            replication.update()
            .where(for_pair(replication, pair), replication.c.ordinal <= position.ordinal)
            .values(
                segment=position.segment,
                ordinal=position.ordinal,
                delivered_at=func.clock_timestamp(),
                batch_s=replication.c.batch_s if batch_s is None else batch_s,
            )
        )
        for behind in (stuck, question):
            connection.execute(behind.delete().where(for_pair(behind, pair), behind.c.ordinal <= position.ordinal))
        for (table, conflict), rows in (conflicts or Tolerated()).items():
            key = {"source": pair.source, "slave": pair.slave, "schema": table.schema, "table": table.table}
            counted = insert(tolerated).values({**key, conflict: rows})
            more = {conflict: tolerated.c[conflict] + rows}
            connection.execute(counted.on_conflict_do_update(index_elements=list(key), set_=more))


def conflicts(store: Store, pair: Pair) -> Tolerated:
    """Rows of the slave that were not as expected, since it was filled."""
    with store.begin() as connection:
        rows = connection.execute(select(tolerated).where(for_pair(tolerated, pair))).all()
    total = Tolerated()
    for row in rows:
        total += conflict_counts(TableName(row.schema, row.table), row.missing, row.duplicate)
    return total


def restart_at(
    store: Store, pair: Pair, position: Position, update_id: int, only: Mapping[TableName, TableName] | None = None
) -> None:
    """Set the position an initial update begins with, which may be behind or ahead of the last one. Forget what is
    known of differences between the slave and its master in the tables that the update fills.

    Args:
        only: the tables that it fills whole, with the slave's names for them; None for all that there are.

    Raises:
        SluiceError: SLC-021 if the update is over.
    """
    with store.begin() as connection:
        _held_by(connection, pair, update_id)
        values = {"segment": position.segment, "ordinal": position.ordinal, "delivered_at": func.clock_timestamp()}
        connection.execute(replication.update().where(for_pair(replication, pair)).values(values))
        table_files.forget(connection, pair)
        if only is None:
            known_differences.forget(connection, pair)
            for table in (tolerated, rejected, stuck, question, skipped):
                connection.execute(table.delete().where(for_pair(table, pair)))
        for masters, slaves in (only or {}).items():
            connection.execute(skipped.delete().where(for_pair(skipped, pair), *_names(skipped, masters)))
            connection.execute(tolerated.delete().where(for_pair(tolerated, pair), *_names(tolerated, slaves)))
            known_differences.forget(connection, pair, masters)
            connection.execute(rejected.delete().where(for_pair(rejected, pair), _rejected_of(masters, slaves)))


def _names(table: Table, name: TableName) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return table.c.schema == name.schema, table.c.table == name.table


def _rejected_of(masters: TableName, slaves: TableName) -> ColumnElement[bool]:
    """Rejected changes of a table; images of which the slave's view failed are the master's, and so is their name."""
    unseen, layout = rejected.c.reason == REMOVED_UNSEEN, rejected.c.layout
    whose = ((unseen, masters), (~unseen, slaves))
    return or_(
        *(
            and_(which, layout["schema"].astext == name.schema, layout["table"].astext == name.table)
            for which, name in whose
        )
    )


def hand_over(connection: Connection, pair: Pair, update_id: int, other: int) -> None:
    """Let the update that is under way for a slave be another, which is to come.

    Raises:
        SluiceError: SLC-021 if it is over.
    """
    _held_by(connection, pair, update_id)
    connection.execute(replication.update().where(for_pair(replication, pair)).values(update_id=other))
    note(connection, pair, "put off", f"update {update_id} -> {other}: the slave cannot be reached")


def note(connection: Connection, pair: Pair, event: str, detail: str, who: str | None = None) -> None:
    """Add a line to the audit trail, in the caller's transaction."""
    values = {"source": pair.source, "slave": pair.slave, "actor": who or actor(), "event": event, "detail": detail}
    connection.execute(audit.insert().values(values))


def _record(
    connection: Connection, pair: Pair, event: ReplicationEvent, detail: str, update_id: int | None, who: str | None
) -> tuple[Status, Status]:
    unknown = insert(replication).values(source=pair.source, slave=pair.slave, status=Status.UNCONFIGURED)
    connection.execute(unknown.on_conflict_do_nothing())
    row = connection.execute(select(replication).where(for_pair(replication, pair)).with_for_update()).one()
    before = Status(row.status)
    status = _after(pair, before, event)
    values: dict[str, object] = {"status": status}
    if event is ReplicationEvent.VERIFIED:
        newest = select(func.coalesce(func.max(segment.c.number), 0)).where(segment.c.source == pair.source)
        values["filled_at"] = newest.scalar_subquery()
    if event is ReplicationEvent.REQUEST:
        values["update_id"] = update_id
    elif update_id is not None:
        _current(pair, row.update_id, update_id)
    connection.execute(replication.update().where(for_pair(replication, pair)).values(values))
    note(connection, pair, event, f"{before} -> {status}{f': {detail}' if detail else ''}", who)
    if event is ReplicationEvent.VERIFIED:
        # It equals its master: what was missing while it was loaded in blocks is there.
        connection.execute(tolerated.delete().where(for_pair(tolerated, pair)))
    if status is Status.INCONSISTENT:
        _lift(connection, pair, Hold.INITIAL, "the update has ended")
    return before, status


def _held_by(connection: Connection, pair: Pair, update_id: int) -> None:
    """Lock the replication; the update named has to be under way."""
    row = connection.execute(select(replication).where(for_pair(replication, pair)).with_for_update()).one()
    _current(pair, row.update_id if row.status in UNDER_WAY else None, update_id)


def _current(pair: Pair, recorded: int | None, update_id: int) -> None:
    if recorded != update_id:
        raise SluiceError(
            21, f"{pair}: update {update_id} is no longer the current one ({recorded or 'none'} is)", _OVER
        )


def _shut(connection: Connection, pair: Pair, kind: Hold, reason: str, who: str | None = None) -> None:
    values = {"source": pair.source, "slave": pair.slave, "kind": kind, "actor": who or actor(), "reason": reason}
    if is_new(connection, insert(hold).values(values)):
        note(connection, pair, "standby", f"{kind}: {reason}", who)


def _lift(connection: Connection, pair: Pair, kind: Hold, reason: str, who: str | None = None) -> bool:
    gone = connection.execute(hold.delete().where(for_pair(hold, pair), hold.c.kind == kind))
    if gone.rowcount:
        note(connection, pair, "activate", f"{kind}: {reason}", who)
    return bool(gone.rowcount)


def _after(pair: Pair, before: Status, event: ReplicationEvent) -> Status:
    try:
        return after(before, event)
    except IllegalEvent as error:
        raise SluiceError(20, f"{pair}: {error}", _HINTS[event]) from None


def read_holdback(store: Store, pair: Pair) -> tuple[int, float]:
    """The holdback of a slave: the number of transactions, and the age of the oldest in seconds."""
    position = get(store, pair).position
    ordinal = position.ordinal
    ahead = (
        select(
            func.coalesce(func.max(segment.c.last_ordinal), ordinal),
            # Not below 0, if the clock was set back since.
            func.greatest(func.extract("epoch", func.clock_timestamp() - func.min(segment.c.published_at)), 0),
        )
        .where(segment.c.source == pair.source, segment.c.number >= position.segment, segment.c.last_ordinal > ordinal)
        .select_from(segment)
    )
    with store.begin() as connection:
        last, age = connection.execute(ahead).one()
    return int(last) - ordinal, float(age or 0)
