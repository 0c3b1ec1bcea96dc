"""Leases: the right to publish a source or to drain to a slave, with an epoch that only grows (R6).

A lease says who *should* write; the fence row in each database written says who *can*. Expiry goes by the control
store's clock, which may be set meanwhile: a lease is never believed for longer than one is given for, and a process
that loses one that is still in use is fenced out. Epochs follow that clock's milliseconds, so that those of a store
that was lost or restored to an earlier state are still above the fences that are in the databases.

`holder` names the process that holds it, if any, and behind `_WITH` the configuration that it was taken by. The
configuration stays when the lease is released.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Connection, cast, func, select
from sqlalchemy.dialects.postgresql import insert

from sluice.errors import FencedError, LeaseTaken
from sluice.shell import RUN_ENV
from sluice.store.engine import Store
from sluice.store.tables import lease

SECONDS = 20
_WITH = " with configuration "


@dataclass(frozen=True)
class Lease:
    """A lease that was ours when we looked.

    Attributes:
        after_crash: whether its last holder ended without releasing it.
    """

    name: str
    epoch: int
    holder: str
    after_crash: bool = False

    @classmethod
    def from_row(cls, values: Mapping[str, Any] | None) -> Lease | None:
        """A row in JSON; None if it was never taken."""
        return cls(values["name"], values["epoch"], values["holder"]) if values and values["epoch"] else None

    @property
    def configuration(self) -> str:
        """The fingerprint of the configuration that it was taken by; empty if unknown."""
        return self.holder.partition(_WITH)[2]

    @property
    def taken_at(self) -> datetime:
        """When it was taken, by the control store's clock."""
        return datetime.fromtimestamp(self.epoch / 1000, UTC)


def holder() -> str:
    """A text by which a person can find this process."""
    run = os.environ.get(RUN_ENV, "")
    return f"{socket.gethostname()}:{os.getpid()}{f' {run}' if run else ''}"


def is_held(store: Store, name: str) -> bool:
    """Whether a lease is taken and has not expired."""
    with store.begin() as connection:
        held = select(lease.c.epoch).where(lease.c.name == name, lease.c.expires_at > func.clock_timestamp())
        return connection.execute(held).scalar() is not None


def acquire(store: Store, name: str, *, force: bool = False, configuration: str = "") -> Lease:
    """Take a lease with a new epoch, if it is free, or by force.

    Args:
        configuration: the fingerprint of what the holder goes by.

    Raises:
        LeaseTaken: SLC-051, it is held; the text says by whom and for how long.
    """
    me = f"{holder()}{_WITH}{configuration}" if configuration else holder()
    expires = func.clock_timestamp() + timedelta(seconds=SECONDS)
    clock = cast(func.floor(func.extract("epoch", func.clock_timestamp()) * 1000), BigInteger)
    new = insert(lease).values(name=name, epoch=clock, holder=me, expires_at=expires)
    taken = new.on_conflict_do_update(
        index_elements=[lease.c.name],
        set_={"epoch": func.greatest(lease.c.epoch + 1, clock), "holder": me, "expires_at": expires},
        where=None if force else lease.c.expires_at < func.clock_timestamp(),
    ).returning(lease.c.epoch)
    with store.begin() as connection:
        last = connection.execute(select(lease.c.holder).where(lease.c.name == name)).scalar()
        epoch = connection.execute(taken).scalar()
        if epoch is None:
            # An end that is further away was written before the clock was set back. Who holds it renews it in time.
            shorter = lease.update().where(lease.c.name == name, lease.c.expires_at > expires)
            connection.execute(shorter.values(expires_at=expires))
            other = connection.execute(select(lease).where(lease.c.name == name)).one()
    if epoch is None:
        raise LeaseTaken(
            51,
            f"{name} is already being worked on by {other.holder}, until {other.expires_at:%H:%M:%S} at least",
            "this run ends and the other goes on; if that process is gone, its lease ends by itself",
        )
    return Lease(name, epoch, me, after_crash=bool(last and not last.startswith(_WITH)))


def renew(store: Store, held: Lease) -> None:
    """Extend a lease. Raises FencedError SLC-050 if another job took it over."""
    with store.begin() as connection:
        renewed = connection.execute(
            lease.update()
            .where(lease.c.name == held.name, lease.c.epoch == held.epoch)
            .values(expires_at=func.clock_timestamp() + timedelta(seconds=SECONDS))
        )
    if renewed.rowcount != 1:
        raise _taken_over(held)


def expect_held(connection: Connection, held: Lease) -> None:
    """Check that no other job took over, nor does before the caller's transaction ends. Raises FencedError SLC-050."""
    epoch = select(lease.c.epoch).where(lease.c.name == held.name).with_for_update(read=True)
    if connection.execute(epoch).scalar() != held.epoch:
        raise _taken_over(held)


def release(store: Store, held: Lease) -> None:
    """Free a lease; does nothing if another job took it over already."""
    with store.begin() as connection:
        connection.execute(
            lease.update()
            .where(lease.c.name == held.name, lease.c.epoch == held.epoch)
            .values(expires_at=func.clock_timestamp(), holder="".join(held.holder.partition(_WITH)[1:]))
        )


@contextmanager
def hold_lease(store: Store, name: str, *, force: bool = False, configuration: str = "") -> Iterator[Lease]:
    """Hold a lease; it ends with the block, so that the next run need not wait for its expiry."""
    held = acquire(store, name, force=force, configuration=configuration)
    try:
        yield held
    finally:
        release(store, held)


def _taken_over(held: Lease) -> FencedError:
    return FencedError(50, f"{held.name} was taken over while epoch {held.epoch} was at work")
