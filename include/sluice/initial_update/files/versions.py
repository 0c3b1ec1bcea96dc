"""Older versions of a source's data: initial data that is kept in the change log for whoever asks for it.

One is a transfer that no slave awaits, named after prefix and version, as the guide names its dumps.
"""

from __future__ import annotations

from sluice.context import Context
from sluice.log import event
from sluice.store import transfers
from sluice.store.transfers import Transfer


def label(context: Context, source: str, version: str) -> str:
    """What the guide calls a version of a source."""
    return f"{context.config.source(source).prefix}Ver_{version}"


def asked(context: Context, source: str, named: str) -> str:
    """The version that a slave asks for as the guide calls it, or by itself; empty for the newest, or a blank name."""
    return named.strip().removeprefix(label(context, source, ""))


def wanted(context: Context, source: str) -> str | None:
    """The version that the source has now, if it is to be kept and is not yet."""
    settings = context.config.source(source)
    version = settings.messages.version
    return version if version in settings.initial_files.versions and not of(context, source, version) else None


def of(context: Context, source: str, version: str) -> list[Transfer]:
    """What is kept of a version: a directory for each kind of slave."""
    begin = f"{label(context, source, version)}#"
    return [one for one in transfers.kept(context.store, source) if one.pair.slave.startswith(begin)]


def labels(context: Context, source: str) -> list[str]:
    """The versions that are kept, as a slave asks for them."""
    return sorted({one.pair.slave.partition("#")[0] for one in transfers.kept(context.store, source)})


def needed(context: Context, source: str) -> list[int]:
    """Where the log has to begin so that what is kept is of use, as ordinals. What is not to be kept any more goes."""
    found = []
    still = {label(context, source, version) for version in context.config.source(source).initial_files.versions}
    for one in transfers.kept(context.store, source):
        if one.pair.slave.partition("#")[0] in still and one.begins:
            found.append(one.begins.ordinal)
            continue
        transfers.end(context.store, one.pair, one.update)
        event("version forgotten", source=source, version=one.pair.slave, directory=one.url)
    return found
