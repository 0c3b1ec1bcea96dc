"""`./sluice check --deployment`: what several machines need, as far as this one can tell.

It looks at no other machine. What has to be the same on each has a short hash, which a person compares.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sluice import loopback, shell
from sluice.config import configuration_text
from sluice.connections import KEY_FILE_ENV, ConnectionInfo, key_file
from sluice.context import Context
from sluice.monitor.status import align
from sluice.paths import HOME_ENV, at_home, home

_HEAD = ("", "WHAT", "HERE", "ON SEVERAL MACHINES")
# Characters of a hash that a person compares.
_COMPARED = 8
# Initial data that is carried by hand is there, if it is anywhere.
_BY_DEFAULT = "initial_files"
_MOUNTED = "each machine mounts it under this path"


@dataclass(frozen=True)
class Need:
    """One thing that machines need.

    Attributes:
        here: how this machine has it.
        good: whether several machines can go by that; None if a person has to look at the others.
        there: what each machine has; or what to do.
    """

    what: str
    here: str
    good: bool | None
    there: str


def needs(context: Context) -> Iterator[Need]:
    """All that machines need, in the order in which one sets them up."""
    place = configuration_text.place()
    shown = f"{place} ({context.config.fingerprint})"
    if configuration_text.is_file(place):
        named = f"{configuration_text.CONFIG_ENV}=airflow-variable:NAME"
        yield Need("configuration", shown, None, f"copy it to this path of each, or set {named}, or a URL")
    else:
        yield Need("configuration", shown, True, "the same place for each process of Airflow")
    yield _key()
    stored = _is_stored(context.config.change_log_url)
    yield Need(HOME_ENV, str(home()), True, "of its own on each machine" if stored else "of its own, but for the rest")
    to_store = "; or let `change_log` be a URL, such as s3://BUCKET/changelog"
    place = context.config.change_log_url
    yield Need("change log", place, stored or None, "each has its login" if stored else f"{_MOUNTED}{to_store}")
    yield from _directories(context)
    yield from _addresses(context)
    if spark := context.connections.get(context.config.spark):
        yield _spark(spark)


def as_table(rows: Sequence[Need]) -> str:
    """Needs as a table, for people."""
    words = {True: "ok", False: "FAIL", None: "look"}
    return "\n".join(align([_HEAD, *((words[row.good], row.what, row.here, row.there) for row in rows)]))


def _is_stored(location: str) -> bool:
    """Whether a location is in an object store, and not in a directory."""
    return "://" in location and not location.startswith("file:")


def _key() -> Need:
    path = key_file()
    try:
        known = hashlib.sha256(path.read_bytes().strip()).hexdigest()[:_COMPARED]
    except OSError as error:
        hint = f"type: {shell.sluice('init')} on one machine, and copy its key to each; {KEY_FILE_ENV} names it"
        return Need("sealing key", f"{path}: {error.strerror}", False, hint)
    return Need("sealing key", f"{path} ({known})", True, "a copy on each, executors as well: compare the hash")


def _directories(context: Context) -> Iterator[Need]:
    """Directories that the configuration names, but for the change log."""
    settings = context.config
    files = [(name, source.initial_files.location) for name, source in settings.sources.items()]
    files += [(name, slave.initial_files.location) for name, slave in settings.slaves.items()]
    for name, location in files:
        if location != _BY_DEFAULT:
            stored = _is_stored(location)
            yield Need(f"initial files of {name}", at_home(location), stored or None, "" if stored else _MOUNTED)
    for name, slave in settings.slaves.items():
        info = context.connections.get(slave.connection)
        if info and (path := info.extra.get("path")):
            yield Need(f"slave {name}", str(path), _is_stored(str(path)) or None, _MOUNTED)


def _addresses(context: Context) -> Iterator[Need]:
    """Connections that lead to another place from each machine."""
    for conn_id, info in context.connections.items():
        if conn_id == context.config.spark or "path" in info.extra:
            continue
        # libpq takes a socket of this machine where a database has no host.
        if info.host.startswith("/") or loopback.is_here(info.host) or (info.database and not info.host):
            hint = f"{shell.connect(conn_id)} with a name that all machines know"
            yield Need(f"connection {conn_id}", info.host or "a socket", False, hint)


def _spark(info: ConnectionInfo) -> Need:
    here = f"{info.conn_type} {info.host}"
    if info.host.startswith("local["):
        return Need("Spark", here, True, "in each job, so each worker has a Java and cores for it")
    if not info.host or loopback.is_here(info.host.rpartition("//")[2]):
        return Need("Spark", here, False, "one on each worker; or name the machine that all reach")
    return Need("Spark", here, True, "executors have the key, and what `py-files` names is on each worker")
