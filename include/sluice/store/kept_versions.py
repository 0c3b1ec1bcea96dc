"""Older versions of a source's data: initial data that is kept in the change log for slaves that ask for it.

One is a transfer that no slave awaits, named after prefix and version, as the guide names its dumps.
"""

from __future__ import annotations

from sluice.config.configuration import Source
from sluice.log import event
from sluice.store import transfers
from sluice.store.engine import Store
from sluice.store.transfers import Transfer


def label(settings: Source, version: str) -> str:
    """What the guide calls a version of a source."""
    return f"{settings.prefix}Ver_{version}"


def asked(settings: Source, named: str) -> str:
    """The version that a slave asks for as the guide calls it, or by itself; empty for the newest, or a blank name."""
    return named.strip().removeprefix(label(settings, ""))


def missing(store: Store, source: str, settings: Source) -> str | None:
    """The version that the source has now, if it is to be kept and is not yet."""
    version = settings.messages.version
    return (
        version if version in settings.initial_files.versions and not kept(store, source, settings, version) else None
    )


def kept(store: Store, source: str, settings: Source, version: str) -> list[Transfer]:
    """What is kept of a version: a directory for each kind of slave."""
    begin = f"{label(settings, version)}#"
    return [one for one in transfers.kept(store, source) if one.pair.slave.startswith(begin)]


def labels(store: Store, source: str) -> list[str]:
    """The versions that are kept, as a slave asks for them."""
    return sorted({one.pair.slave.partition("#")[0] for one in transfers.kept(store, source)})


def needed(store: Store, source: str, settings: Source) -> list[int]:
    """Where the log has to begin so that what is kept is of use, as ordinals. What is not to be kept any more goes."""
    found = []
    still = {label(settings, version) for version in settings.initial_files.versions}
    for one in transfers.kept(store, source):
        if one.pair.slave.partition("#")[0] in still and one.begins:
            found.append(one.begins.ordinal)
            continue
        transfers.end(store, one.pair, one.update)
        event("version forgotten", source=source, version=one.pair.slave, directory=one.url)
    return found
