"""Initial data on its way to a slave by hand: what was stored where, until it is loaded and the slave's gate opens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.postgresql import insert

from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.state.replication import UNDER_WAY
from sluice.store import replications
from sluice.store.engine import Store
from sluice.store.tables import for_pair, kept_version, transfer


@dataclass(frozen=True)
class Transfer:
    """A directory that a slave waits for.

    Attributes:
        update: the initial update that it belongs to.
        url: where it was stored.
        name: what it is called there, and where it is to be copied to.
        sha256: of its manifest.
        files: how many there are in it.
        begins: from where on the log is needed after it; None if unknown.
        epoch: under which a load of it began, if one did.
        rows: how many are in, once all are.
    """

    pair: Pair
    update: int
    url: str
    name: str
    sha256: str
    files: int
    begins: Position | None = None
    epoch: int | None = None
    since: datetime | None = None
    rows: int | None = None

    @property
    def is_in(self) -> bool:
        """Whether all of it is loaded."""
        return self.rows is not None


def begin(store: Store, waiting: Transfer) -> None:
    """Record that the data is stored: the slave waits for it from now on, unless it waits for a later update's."""
    values = {
        "update_id": waiting.update,
        "url": waiting.url,
        "name": waiting.name,
        "sha256": waiting.sha256,
        "files": waiting.files,
        "segment": waiting.begins.segment if waiting.begins else None,
        "ordinal": waiting.begins.ordinal if waiting.begins else None,
        "epoch": None,
        "since": func.clock_timestamp(),
        "rows": None,
    }
    key = {"source": waiting.pair.source, "slave": waiting.pair.slave}
    with store.begin() as connection:
        wanted = insert(transfer).values({**key, **values})
        known = transfer.c.update_id <= waiting.update
        connection.execute(wanted.on_conflict_do_update(index_elements=list(key), set_=values, where=known))


def awaited_transfer(store: Store, pair: Pair) -> Transfer | None:
    """The transfer that a slave waits for; None if its update was cancelled, or another one was begun."""
    pending = pending_transfer(store, pair)
    return pending if pending and not pending.is_in else None


def loaded_transfer(store: Store, pair: Pair) -> Transfer | None:
    """The transfer that is loaded completely while the slave's gate is still shut."""
    pending = pending_transfer(store, pair)
    return pending if pending and pending.is_in else None


def pending_transfer(store: Store, pair: Pair) -> Transfer | None:
    """The transfer before the gate of a slave opens, whether or not it is loaded."""
    with store.begin() as connection:
        row = connection.execute(select(transfer).where(for_pair(transfer, pair))).one_or_none()
    known = replications.get(store, pair)
    if row is None or known.update_id != row.update_id or known.status not in UNDER_WAY:
        return None
    return from_row(row)


def record_load(store: Store, loaded: Transfer, epoch: int) -> None:
    """Record that a load began, whose chunks another one may go on with."""
    this = (for_pair(transfer, loaded.pair), transfer.c.update_id == loaded.update)
    with store.begin() as connection:
        connection.execute(transfer.update().where(*this).values(epoch=epoch))


def end_load_in(connection: Connection, ended: Transfer, rows: int) -> None:
    """Record a complete load, in the caller's transaction; the slave waits for its gate only."""
    which = (for_pair(transfer, ended.pair), transfer.c.update_id == ended.update)
    connection.execute(transfer.update().where(*which).values(rows=rows))


def end(store: Store, pair: Pair, update: int) -> None:
    """The slave waits for nothing of this update any more."""
    with store.begin() as connection:
        end_in(connection, pair, update)


def end_in(connection: Connection, pair: Pair, update: int) -> None:
    """The same, in the caller's transaction."""
    connection.execute(transfer.delete().where(for_pair(transfer, pair), transfer.c.update_id == update))


def is_needed(store: Store, ended: Transfer) -> bool:
    """Whether another slave waits for the same directory, or it is kept for slaves that ask for its version."""
    waiting = select(transfer.c.name).where(transfer.c.name == ended.name, transfer.c.rows.is_(None))
    kept = select(kept_version.c.name).where(kept_version.c.name == ended.name)
    with store.begin() as connection:
        return connection.execute(waiting.union(kept).limit(1)).first() is not None


def from_row(row: Any) -> Transfer:
    """The transfer of a row."""
    return Transfer(
        pair=Pair(row.source, row.slave),
        update=row.update_id,
        url=row.url,
        name=row.name,
        sha256=row.sha256,
        files=row.files,
        begins=None if row.ordinal is None else Position(row.segment, row.ordinal),
        epoch=row.epoch,
        since=row.since,
        rows=row.rows,
    )
