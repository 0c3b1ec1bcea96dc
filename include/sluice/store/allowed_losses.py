"""Casts of a slave's columns whose losses were allowed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlalchemy import select

from sluice.model.loss import Loss
from sluice.model.names import Pair, TableName
from sluice.store.engine import Store
from sluice.store.tables import allowed_loss, for_pair

if TYPE_CHECKING:
    pass


def allowed_casts(store: Store, pair: Pair) -> dict[TableName, dict[str, str]]:
    """The allowed casts: by table of the master and column of the slave."""
    if not store.has_tables:
        return {}
    with store.begin() as connection:
        rows = connection.execute(select(allowed_loss).where(for_pair(allowed_loss, pair))).all()
    casts: dict[TableName, dict[str, str]] = {}
    for row in rows:
        casts.setdefault(TableName(row.schema, row.table), {})[row.column] = row.cast
    return casts


def is_allowed(loss: Loss, allowed: Mapping[TableName, Mapping[str, str]]) -> bool:
    """Whether a loss is among the allowed casts."""
    return loss.cast is not None and allowed.get(loss.table, {}).get(loss.column) == loss.cast
