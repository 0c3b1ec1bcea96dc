"""Slaves that an initial update has loaded completely, so that a later try leaves them out."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import func, literal, select
from sqlalchemy.dialects.postgresql import JSONB

from sluice.store.engine import Store
from sluice.store.leases import Lease
from sluice.store.tables import initial_update, lease


def note(store: Store, number: int, slave: str, held: Lease, what: str) -> None:
    """Record that a slave is loaded, unless another job took over and may have emptied it.

    Args:
        what: it has; see `sluice.initial_update.start_stream`.
    """
    epoch = select(lease.c.epoch).where(lease.c.name == held.name).with_for_update()
    known = func.coalesce(initial_update.c.joined, literal({}, JSONB)).op("||")(literal({slave: what}, JSONB))
    with store.begin() as connection:
        if connection.execute(epoch).scalar() == held.epoch:
            connection.execute(initial_update.update().where(initial_update.c.id == number).values(joined=known))


def keep_current(store: Store, number: int, wanted: Mapping[str, str]) -> set[str]:
    """The slaves that have what they are to have. Others may be emptied, and nothing is known of them from here on."""
    this = initial_update.c.id == number
    with store.begin() as connection:
        noted = connection.execute(select(initial_update.c.joined).where(this).with_for_update()).scalar() or {}
        still_loaded = {slave: what for slave, what in noted.items() if wanted.get(slave) == what}
        if still_loaded != noted:
            connection.execute(initial_update.update().where(this).values(joined=still_loaded))
    return set(still_loaded)
