"""Changing over: from triggers to the server's log, and back, while the source is written to.

Bootstrap changes everything in one transaction, which holds all watched tables, the queue, and the layouts. So whatever
is captured has ended before, or begins behind it: no transaction is captured in both ways. What the old way has
captured is published first, and by its own means; then the other begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

import psycopg
import pyarrow as pa
from psycopg import sql

from sluice.crash import CrashPoint, crash_if_asked
from sluice.errors import AGAIN, ConfigError, TransientError
from sluice.model.layout import Layout
from sluice.model.names import Resources
from sluice.vendors.postgresql import install_lock
from sluice.vendors.postgresql.capture.log import prerequisites, slot
from sluice.vendors.postgresql.capture.log.slot_server import SlotServer
from sluice.vendors.postgresql.session import PURGE, Connection, composed
from sluice.vendors.protocol.sweep import Purge, Sweep

_PURGING = f"SET LOCAL synchronous_commit = on; {PURGE}"


class Phase(StrEnum):
    """What of a source that changes over is published first; or only its slot is to be dropped."""

    QUEUE = "queue"
    SLOT = "slot"
    OVER = "over"


@dataclass(frozen=True)
class CaptureState:
    """How a source is captured.

    Attributes:
        by_log: rows are read from the server's log.
        phase: None where it does not change over.
        shown: the snapshot that shows what is published first.
        ends: the place in the log that all of it was committed before, if it is in the log.
        slot: the name of the slot; None where there is none.
    """

    by_log: bool
    phase: Phase | None = None
    shown: str = ""
    ends: int = 0
    slot: str | None = None

    @property
    def name(self) -> str:
        """What the configuration calls it."""
        return "log" if self.by_log else "triggers"

    @property
    def remark(self) -> str | None:
        """What there is to say of it, in a sentence."""
        if self.phase in (None, Phase.OVER):
            return None
        before = "triggers have captured" if self.by_log else "the slot has"
        return f"it changes over to `{self.name}`: what {before} is published first"


@dataclass(frozen=True)
class NewSlot:
    """A slot that was made before the source changes over to it, and where."""

    name: str
    at: SlotServer


def recorded_state(connection: Connection, parts: Mapping[str, sql.Composable]) -> CaptureState | None:
    """How the source is captured, where DbResources of this version are; None where bootstrap has not yet ended."""
    row = connection.execute(composed("capture/log/way", **parts)).fetchone()
    if row is None:
        return None
    by_log, phase, shown, ends, name = row
    return CaptureState(by_log, Phase(phase) if phase else None, shown or "", int(ends or 0), name)


def expect_over(found: CaptureState) -> None:
    """See that a source may change over. Raises ConfigError SLC-406, the last time is not over."""
    if found.phase:
        raise ConfigError(
            406,
            f"the source still changes over to `{found.name}`: not all is published that the other way had captured",
            f"nothing was changed; set `capture` back to `{found.name}`, and run the publisher until nothing is left",
        )


def make_slot(at: SlotServer, resources: Resources, parts: Mapping[str, sql.Composable]) -> NewSlot:
    """Make what the log is read by, before the source changes over.

    Raises:
        ConfigError: SLC-400, the server or the role does not allow it.
        TransientError: SLC-408, transactions stay open; SLC-095, another bootstrap is at work.
    """
    connection, name = at.master(), slot.name_of(at, resources)
    with connection.transaction():
        if not _dropped(at, resources, parts):
            raise changed_meanwhile()
    prerequisites.expect_possible(at)
    connection.execute(composed("capture/log/publications", **parts))
    try:
        slot.make_first(at, name)
    except psycopg.errors.DuplicateObject:
        raise changed_meanwhile() from None
    return NewSlot(name, at)


def make_recorded_slot(
    at: SlotServer, resources: Resources, parts: Mapping[str, sql.Composable], *, anew: bool = False
) -> None:
    """Make the slot of a source that is captured by its log, and record it; in the place of one only if `anew` says so.

    A bootstrap that was slow may find that another one has made it meanwhile. That one is read already: changes that
    are committed before a second one would be lost, and nobody would see it.

    Raises:
        ConfigError: SLC-594, a slot of its name is somebody else's.
        TransientError: SLC-408, transactions stay open; SLC-095, somebody else has changed the capture meanwhile.
    """
    connection = at.master()
    try:
        with connection.transaction():
            install_lock.bootstrap(connection, resources)
            state = recorded_state(connection, parts)
            if state and not state.by_log:
                raise changed_meanwhile()
            if anew or slot.recorded(connection, parts) is None:
                slot.make(at, resources, parts)
    except psycopg.errors.DuplicateObject:
        raise changed_meanwhile() from None


def drop_unused(at: SlotServer, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Drop what was made by a bootstrap that was killed before the source changed over."""
    connection = at.master()
    with connection.transaction():
        if _dropped(at, resources, parts):
            connection.execute(composed("capture/log/unpublish", **parts))


def _dropped(at: SlotServer, resources: Resources, parts: Mapping[str, sql.Composable]) -> bool:
    """Drop a slot that the source does not use, if there is one. False where it uses one: another bootstrap has changed
    it over since ours looked.
    """
    connection = at.master()
    install_lock.bootstrap(connection, resources)
    state = recorded_state(connection, parts)
    if state and (state.by_log or state.slot):
        return False
    name = slot.name_of(at, resources)
    slot.expect_trusted_owners(at, name)
    try:
        slot.drop(at.open(), name)
    except psycopg.errors.ObjectInUse:
        # Another one makes it at this moment.
        raise changed_meanwhile() from None
    return True


def record(
    connection: Connection, parts: Mapping[str, sql.Composable], *, by_log: bool, new_slot: NewSlot | None
) -> None:
    """Record in the transaction that holds all locks where one way ends and the other begins.

    Raises:
        TransientError: SLC-095, somebody else has changed it meanwhile.
    """
    # What is in the log up to here is published from the log: it has to be on the disk.
    connection.execute("SET LOCAL synchronous_commit = on")
    if not by_log:
        done = connection.execute(composed("capture/log/to_triggers", **parts)).rowcount
    elif new_slot and slot.exists(new_slot.at.open(), new_slot.name):
        values = {"slot": new_slot.name, "layouts": slot.newest(connection, parts)}
        done = connection.execute(composed("capture/log/to_log", **parts), values).rowcount
    else:
        done = 0
    if done != 1:
        raise changed_meanwhile()


def changed_meanwhile() -> TransientError:
    """An error: what is watched, or how, is not what it was when bootstrap began."""
    return TransientError(
        95,
        "tables were made or altered, or somebody else changed the capture, while the source was to change over",
        f"nothing was changed; {AGAIN}. If that lasts, trigger one DAG bootstrap of this source at a time",
    )


def other_way(said: str, found: CaptureState) -> ConfigError:
    """An error: the configuration has another way than the source."""
    return ConfigError(
        406,
        f"the configuration captures the source by `{said}`, and the source is captured by `{found.name}`",
        "nothing was changed, and no change is lost. If `capture` is to change, trigger the DAG bootstrap: the source "
        "changes over while it is written to. If it just has, the next run goes on; else set `capture` back",
    )


def end_queue(connection: Connection, parts: Mapping[str, sql.Composable]) -> bool:
    """Go on with the slot, if nothing is left in the queue of what triggers captured; whether that is so."""
    return connection.execute(composed("capture/log/end_queue", **parts)).rowcount > 0


def end_slot(
    at: SlotServer, resources: Resources, parts: Mapping[str, sql.Composable], found: CaptureState, epoch: int
) -> bool:
    """Go on with the queue, and drop the slot, if nothing is left in it of what is published from there; whether that
    is so.

    Raises:
        ConfigError: SLC-552, see `SlotServer.expect_follower`.
        StrangeSource: SLC-404, see `slot.catch_up`.
    """
    if found.phase is Phase.SLOT:
        # In the slot of another server's standby nothing is left, either.
        at.expect_follower(epoch)
        if not slot.is_published(at, resources, parts, found.ends):
            return False
        connection = at.master()
        with connection.transaction():
            connection.execute(_PURGING)
            connection.execute(composed("capture/log/end_slot", **parts))
        crash_if_asked(CrashPoint.SLOT_READ)
    _drop(at, resources, parts)
    return True


def abandon(at: SlotServer, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Go on with the queue, whatever the slot has; where all slaves are filled anew."""
    connection = at.master()
    with connection.transaction():
        install_lock.bootstrap(connection, resources)
        state = recorded_state(connection, parts)
        if state and state.by_log:
            raise changed_meanwhile()
        connection.execute(composed("capture/log/abandon", **parts))
    _drop(at, resources, parts)


def _drop(at: SlotServer, resources: Resources, parts: Mapping[str, sql.Composable]) -> None:
    """Drop the slot that is read. Another publisher may have done so, and the source be captured by its log again, from
    a slot of the same name.
    """
    connection = at.master()
    # If somebody looks at it at this moment, it is dropped another time.
    with suppress(psycopg.errors.ObjectInUse, psycopg.errors.UndefinedObject), connection.transaction():
        install_lock.bootstrap(connection, resources)
        state = recorded_state(connection, parts)
        if state is None or state.by_log or state.phase is not Phase.OVER:
            return
        connection.execute(composed("capture/log/unpublish", **parts))
        if state.slot:
            slot.drop(at.open(), state.slot)
        connection.execute(composed("capture/log/forget", **parts))


class FirstSweep:
    """A sweep of what is published first: `more` follows in any case. See `sluice.vendors.protocol.sweep.Sweep`."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        self.snapshot, self.state, self.more = sweep.snapshot, sweep.state, True

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The changes in order."""
        return self._sweep.batches()

    def layouts(self) -> Mapping[int, Layout]:
        """The layouts that images of this sweep were written under, by id."""
        return self._sweep.layouts()

    def make_durable(self) -> None:
        """See that no crash of the source takes back what was read."""
        self._sweep.make_durable()

    def purge(self, purge: Purge, changes: int) -> None:
        """Remove exactly what was read, record the segment, commit."""
        self._sweep.purge(purge, changes)

    def deletion(self, column: str, number: object) -> str:
        """What an administrator can do about a change that nobody may publish."""
        return self._sweep.deletion(column, number)
