"""`./sluice check`: is everything there that the configuration names, and may we do what we need to do?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sluice.context import Context
from sluice.errors import SluiceError
from sluice.model.names import Pair, TableName


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: fine, worth knowing, or wrong."""

    subject: str
    good: bool
    text: str


def findings(context: Context) -> Iterator[Finding]:
    """Look at the control store, each source with its tables, each slave."""
    yield _try("control store", lambda: _store(context))
    for name in context.config.sources:
        yield _try(f"source {name}", lambda name=name: _source(context, name))  # type: ignore[misc]
    for pair in (Pair(one.source, one.slave) for one in context.config.replications):
        yield _try(f"slave {pair.slave}", lambda pair=pair: _slave(context, pair))  # type: ignore[misc]


def _try(subject: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(subject, True, look())
    except SluiceError as error:
        return Finding(subject, False, str(error))


def _store(context: Context) -> str:
    with context.store.begin():
        return "answers"


def _source(context: Context, name: str) -> str:
    source = context.source(name)
    try:
        can = source.capabilities()
        missing = source.missing(list(context.watched(name)))
        installed = source.is_installed()
    finally:
        source.close()
    if missing:
        raise SluiceError(
            40, f"watched tables are missing: {', '.join(map(str, missing))}", "mend `tables` in the configuration"
        )
    ddl = (
        "ALTER TABLE is seen as it happens"
        if can.event_triggers
        else "the role may not create event triggers: after an ALTER of a watched table run bootstrap"
    )
    return f"answers; DbResources {'installed' if installed else 'not installed yet (bootstrap installs them)'}; {ddl}"


def _slave(context: Context, pair: Pair) -> str:
    slave = context.slave(pair)
    try:
        can = slave.capabilities()
        guarded = (
            []
            if can.silent_triggers
            else slave.guarded([TableName(*name) for name in context.config.source(pair.source).watched])
        )
    finally:
        slave.close()
    if guarded:
        raise SluiceError(
            74,
            f"{', '.join(guarded)} would act a second time on what the master did already",
            "drop them, or GRANT SET ON PARAMETER session_replication_role to the role",
        )
    return "answers; its own triggers and cascades " + ("stay silent" if can.silent_triggers else "are none")
