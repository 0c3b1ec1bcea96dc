"""Initial data that is kept in the change log beside the segments: of slaves that were off-line, and of versions."""

from __future__ import annotations

from sqlalchemy import select

from sluice.config.configuration import Config
from sluice.errors import SluiceError
from sluice.log import event
from sluice.state.initial_update import UpdateState
from sluice.state.replication import Status
from sluice.storage.directory import Directory
from sluice.store.engine import Store
from sluice.store.tables import initial_update, kept_version, replication, transfer
from sluice.store.transfers import Transfer


def holds(config: Config, awaited: Transfer) -> bool:
    """Whether the initial data that a slave waits for is stored here, so that no files have to be carried."""
    return awaited.url == Directory(config.initial_data_url).within(awaited.name).url


def sweep(config: Config, store: Store) -> None:
    """Remove initial data that no slave waits for, unless a dump is writing."""
    used = any(slave.when_unreachable == "store" for slave in config.slaves.values())
    if (
        "://" in config.initial_data_url
        and not used
        and not any(source.initial_files.versions for source in config.sources.values())
    ):
        return
    dumped = replication.join(initial_update, initial_update.c.id == replication.c.update_id)
    dumping = select(replication.c.slave).select_from(dumped)
    dumping = dumping.where(replication.c.status == Status.INITIAL, initial_update.c.state != UpdateState.PUT_OFF)
    try:
        # Listed before the store is read: directories that are created later are not in it yet.
        existing = Directory(config.initial_data_url).directories()
        with store.begin() as connection:
            written = connection.execute(dumping.limit(1)).first()
            named = set(connection.execute(select(transfer.c.name).union(select(kept_version.c.name))).scalars())
        for name in [] if written else existing:
            if name not in named:
                Directory(config.initial_data_url).within(name).remove_all()
                event("swept", directory=name)
    except SluiceError as error:
        event("not swept", why=error.fact)
