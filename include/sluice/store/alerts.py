"""Alerts that people were told of, or are to be; of a replication, or with empty names of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, DateTime, Table, Text, and_, func, select
from sqlalchemy.dialects.postgresql import insert

from sluice.model.alert import Alert, AlertChanges, KnownAlert
from sluice.store.engine import Store
from sluice.store.tables import metadata

_NOW = func.clock_timestamp()
_BEGUN, _OVER = "begun", "over"
_KEY = ("source", "slave", "what")
alert = Table(
    "alert",
    metadata,
    *(Column(name, Text, primary_key=True) for name in _KEY),
    *(Column(name, DateTime(timezone=True), nullable=False, server_default=_NOW) for name in ("since", "held_at")),
    # `begun` or `over`, and the task whose message says so, until that was sent.
    *(Column(name, Text) for name in ("told", "teller")),
)


def change(
    store: Store, run: str, decide: Callable[[datetime, Mapping[Alert, KnownAlert]], AlertChanges]
) -> tuple[AlertChanges, Mapping[Alert, KnownAlert]]:
    """Decide by what is known, and keep that in the same transaction.

    Args:
        run: the task that tells people.

    Returns:
        The decision, and what was known before.
    """
    with store.begin() as connection:
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtext("sluice alerts"))))
        now: datetime = connection.execute(select(_NOW)).scalar_one()
        rows = connection.execute(select(alert)).all()
        known = {
            Alert(row.source, row.slave, row.what): KnownAlert(
                row.since, row.held_at, row.told is not None, row.told == _OVER, row.teller is not None
            )
            for row in rows
        }
        changes = decide(now, known)
        for each in (*changes.begun, *changes.kept):
            values: dict[str, Any] = {"held_at": now}
            if each in changes.begun:
                values |= {"told": _BEGUN, "teller": run}
            row = insert(alert).values(source=each.source, slave=each.slave, what=each.what, **values)
            connection.execute(row.on_conflict_do_update(index_elements=_KEY, set_=values))
        for each in changes.over:
            connection.execute(alert.update().where(_is(each)).values(told=_OVER, teller=run))
        for each in changes.gone:
            connection.execute(alert.delete().where(_is(each)))
    return changes, known


def confirm(store: Store, run: str) -> None:
    """Record that the message of a task was sent."""
    with store.begin() as connection:
        connection.execute(alert.delete().where(alert.c.teller == run, alert.c.told == _OVER))
        connection.execute(alert.update().where(alert.c.teller == run).values(teller=None))


def _is(each: Alert) -> ColumnElement[bool]:
    return and_(alert.c.source == each.source, alert.c.slave == each.slave, alert.c.what == each.what)
