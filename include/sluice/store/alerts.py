"""Alerts that people were told of, or are to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.dialects.postgresql import insert

from sluice.model.alert import Alert, AlertChanges, KnownAlert
from sluice.store.engine import Store
from sluice.store.tables import alert

_KEY = ["source", "slave", "what"]


def change(
    store: Store, run: str, decide: Callable[[datetime, Mapping[Alert, KnownAlert]], AlertChanges]
) -> tuple[AlertChanges, Mapping[Alert, KnownAlert]]:
    """Decide by what is known, and keep that in the same transaction, so that nobody decides the same twice.

    Args:
        run: the task that tells people.

    Returns:
        The decision, and what was known before.
    """
    with store.begin() as connection:
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtext("sluice alerts"))))
        now: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
        rows = connection.execute(select(alert)).all()
        known = {
            Alert(row.source, row.slave, row.what): KnownAlert(
                row.since, row.held_at, row.begun_by is not None, row.over_by is not None
            )
            for row in rows
        }
        changes = decide(now, known)
        for each in (*changes.begun, *changes.kept):
            values: dict[str, Any] = {"held_at": now}
            if (before := known.get(each)) is None or before.over:
                values |= {"since": now, "begun_by": None, "over_by": None}
            if each in changes.begun:
                values["begun_by"] = run
            row = insert(alert).values(source=each.source, slave=each.slave, what=each.what, **values)
            connection.execute(row.on_conflict_do_update(index_elements=_KEY, set_=values))
        for each in changes.over:
            connection.execute(alert.update().where(_is(each)).values(over_by=run))
        for each in changes.gone:
            connection.execute(alert.delete().where(_is(each)))
    return changes, known


def take_back(store: Store, run: str) -> None:
    """Nobody was told what this task was to tell: another one does."""
    with store.begin() as connection:
        connection.execute(alert.update().where(alert.c.begun_by == run).values(begun_by=None))
        connection.execute(alert.update().where(alert.c.over_by == run).values(over_by=None))


def _is(each: Alert) -> ColumnElement[bool]:
    return and_(alert.c.source == each.source, alert.c.slave == each.slave, alert.c.what == each.what)
