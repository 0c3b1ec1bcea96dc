"""Initial data that is kept in the change log beside the segments: of slaves that were off-line, and of versions."""

from __future__ import annotations

from sqlalchemy import select

from sluice.context import Context
from sluice.errors import TransientError
from sluice.log import event
from sluice.state.replication import Status
from sluice.storage.directory import Place
from sluice.store import updates
from sluice.store.tables import initial_update, replication, transfer
from sluice.store.transfers import Transfer


def place(context: Context) -> str:
    """Where its directories are, as pyarrow has it: of Hadoop's `s3a` it knows the store, and not the name."""
    log = context.config.change_log_url.rstrip("/")
    return f"s3://{log.removeprefix('s3a://')}/initial_files" if log.startswith("s3a://") else f"{log}/initial_files"


def holds(context: Context, awaited: Transfer) -> bool:
    """Whether what a slave waits for is there, so that nobody has to carry it."""
    return awaited.url == f"{place(context)}/{awaited.name}"


def sweep(context: Context) -> None:
    """Remove what nobody waits for any more, once nothing is written there."""
    config = context.config
    used = any(one.off_line == "store" for one in config.slaves.values())
    if "://" in place(context) and not used and not any(one.initial_files.versions for one in config.sources.values()):
        return
    dumped = replication.join(initial_update, initial_update.c.id == replication.c.update_id)
    dumping = select(replication.c.slave).select_from(dumped)
    dumping = dumping.where(replication.c.status == Status.INITIAL, initial_update.c.state != updates.PUT_OFF)
    try:
        # Before the store is asked: what is made later is nobody's yet.
        there = Place(place(context)).directories()
        with context.store.begin() as connection:
            written = connection.execute(dumping.limit(1)).first()
            named = set(connection.execute(select(transfer.c.name)).scalars())
        for name in [] if written else there:
            if name not in named:
                Place(place(context)).within(name).remove_all()
                event("swept", directory=name)
    except TransientError as error:
        event("not swept", why=error.fact)
