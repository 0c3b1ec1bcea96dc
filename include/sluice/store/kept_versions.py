"""Older versions of a source's data: initial data that is kept in the change log for slaves that ask for it."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select
from sqlalchemy.dialects.postgresql import insert

from sluice.config.source import SourceSettings
from sluice.log import event
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.store.engine import Store
from sluice.store.tables import kept_version
from sluice.store.transfers import Transfer


def label(settings: SourceSettings, version: str) -> str:
    """The name that the guide gives to a version of a source."""
    return f"{settings.prefix}Ver_{version}"


def requested_version(settings: SourceSettings, named: str) -> str:
    """The version that a slave asks for by that name, or by itself; empty for the newest, or a blank name."""
    return named.strip().removeprefix(label(settings, ""))


def missing_version(store: Store, source: str, settings: SourceSettings) -> str | None:
    """The version that the source has now, if it is to be kept and is not yet."""
    version = settings.messages.version
    return version if version in settings.initial_files.versions and version not in versions(store, source) else None


def keep(store: Store, version: str, kind: int, stored: Transfer) -> None:
    """Keep what a kind of slave sees of a version; `stored.begins` says from where on it needs the log."""
    assert stored.begins is not None
    values = {
        "source": stored.pair.source,
        "version": version,
        "kind": kind,
        "url": stored.url,
        "name": stored.name,
        "sha256": stored.sha256,
        "update_id": stored.update,
        "files": stored.files,
        "segment": stored.begins.segment,
        "ordinal": stored.begins.ordinal,
    }
    with store.begin() as connection:
        connection.execute(insert(kept_version).values(values).on_conflict_do_nothing())


def kept_dumps(store: Store, pair: Pair, version: str) -> list[Transfer]:
    """The kept dumps of a version, one directory for each view, as transfers for this slave."""
    wanted = select(kept_version).where(kept_version.c.source == pair.source, kept_version.c.version == version)
    with store.begin() as connection:
        rows = connection.execute(wanted.order_by(kept_version.c.kind)).all()
    return [
        Transfer(pair, row.update_id, row.url, row.name, row.sha256, row.files, Position(row.segment, row.ordinal))
        for row in rows
    ]


def versions(store: Store, source: str) -> list[str]:
    """The versions that are kept."""
    wanted = select(kept_version.c.version).where(kept_version.c.source == source).distinct()
    with store.begin() as connection:
        return list(connection.execute(wanted.order_by(kept_version.c.version)).scalars())


def needed_ordinals(store: Store, source: str) -> list[int]:
    """The ordinals from which the log is needed by kept dumps."""
    with store.begin() as connection:
        return list(connection.execute(select(kept_version.c.ordinal).where(kept_version.c.source == source)).scalars())


def keep_only(store: Store, source: str, wanted: Collection[str]) -> None:
    """Forget the versions that are not wanted any more."""
    with store.begin() as connection:
        keep_only_in(connection, source, wanted)


def keep_only_in(connection: Connection, source: str, wanted: Collection[str]) -> None:
    """The same, in the caller's transaction."""
    gone = kept_version.delete().where(kept_version.c.source == source, kept_version.c.version.not_in(wanted))
    for row in connection.execute(gone.returning(kept_version.c.version, kept_version.c.url)):
        event("version forgotten", source=source, version=row.version, directory=row.url)
