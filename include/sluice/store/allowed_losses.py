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


def allowed(store: Store, pair: Pair) -> dict[TableName, dict[str, str]]:
    """The allowed casts: by table of the master and column of the slave."""
    with store.begin() as connection:
        rows = connection.execute(select(allowed_loss).where(for_pair(allowed_loss, pair))).all()
    found: dict[TableName, dict[str, str]] = {}
    for row in rows:
        found.setdefault(TableName(row.schema, row.table), {})[row.column] = row.cast
    return found


def is_allowed(loss: Loss, known: Mapping[TableName, Mapping[str, str]]) -> bool:
    """Whether a loss is among those of `allowed`."""
    return loss.cast is not None and known.get(loss.table, {}).get(loss.column) == loss.cast
