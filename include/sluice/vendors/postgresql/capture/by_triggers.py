"""Capture by triggers of a source that may have been captured by its log: then that is published first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from sluice.crash import CrashPoint, crash_if_asked
from sluice.model.kept_log import KeptLog
from sluice.model.names import TableName
from sluice.model.watched import Watch, WatchSettings
from sluice.vendors.postgresql.capture import change_over
from sluice.vendors.postgresql.capture.change_over import CaptureState, FirstSweep, Phase
from sluice.vendors.postgresql.capture.log import slot
from sluice.vendors.postgresql.capture.log.capture import LogCapture
from sluice.vendors.postgresql.capture.queue.capture import QueueCapture
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.source_session import SourceSession
from sluice.vendors.protocol.capture import Installed
from sluice.vendors.protocol.sweep import Purge, Sweep


class TriggerCapture(QueueCapture):
    """See `sluice.vendors.protocol.capture.Capture`."""

    def __init__(self, session: SourceSession) -> None:
        super().__init__(session)
        self._log = LogCapture(session)
        self._at = session.slot_server

    def install(
        self,
        watched: Mapping[TableName, Watch],
        wanted: WatchSettings,
        *,
        recreate: bool = False,
        unreadable: Collection[TableName] = (),
        notice: Callable[[str], None] | None = None,
    ) -> Installed:
        """Install or reconcile everything in one transaction; in it, change over from the log."""
        state = self._capture_state()
        if state and state.by_log:
            change_over.expect_over(state)
        elif state and state.slot is None:
            with translated("dropping a slot that is not used"):
                change_over.drop_unused(self._at, self.resources, self.parts)
        installed = super().install(watched, wanted, recreate=recreate, unreadable=unreadable, notice=notice)
        if installed.changed_over:
            crash_if_asked(CrashPoint.CHANGED_OVER)
        return installed

    def remove(self, before: Callable[[], None]) -> list[str]:
        """Drop every DbResource, in one transaction, and a slot, if there is one."""
        return self._log.remove(before)

    def count_queued(self, most: int) -> int:
        """How many changes wait, counted up to so many."""
        return self._log.count_queued(most) if self._reads_slot() else super().count_queued(most)

    def kept_log(self) -> KeptLog | None:
        """What the server keeps for a slot that is still there; mostly there is none."""
        if self._at.is_standby and not self._reads_slot():
            return None
        with translated("looking at the slot"):
            name = slot.name_of(self._at, self.resources)
            return slot.kept(self._at, name) if slot.exists(self._at.open(), name) else None

    @contextmanager
    def sweep(self, epoch: int, max_changes: int | None, until: str | None = None) -> Iterator[Sweep]:
        """Read ITEMS in one snapshot; before that, what the slot has of the time when the source was captured by it."""
        rest = self._changing_from_log()
        with translated("reading what is left in the slot"):
            ended = rest is None or change_over.end_slot(self._at, self.resources, self.parts, rest, epoch)
        if rest and not ended:
            with self._log.read_slot(epoch, max_changes, rest.shown, rest) as first:
                yield FirstSweep(first)
            return
        with super().sweep(epoch, max_changes, until) as sweep:
            self._expect_as(CaptureState(by_log=False))
            yield sweep

    def heal(self, epoch: int, purge: Purge, changes: Iterable[Mapping[str, Sequence[object]]]) -> bool:
        """Purge again what a publisher that died between listing and purging left behind."""
        if self._reads_slot():
            return self._log.record_again(epoch, purge, changes)
        return super().heal(epoch, purge, changes)

    def forget_layouts(self) -> None:
        """Forget the columns of relations that are gone; not while the slot may have rows of them."""
        if self._changing_from_log() is None:
            super().forget_layouts()

    def accept(self, epoch: int, segment: int, sha256: str) -> str:
        """Take this source as the one whose log ends with `segment`; of a slot nothing is published any more."""
        incarnation = super().accept(epoch, segment, sha256)
        if self._changing_from_log():
            with translated("dropping the slot"):
                change_over.abandon(self._at, self.resources, self.parts)
        return incarnation

    def close(self) -> None:
        """End the sessions, with those that the slot was read by."""
        super().close()
        self._log.close()

    def _changing_from_log(self) -> CaptureState | None:
        """The source, if it still changes over from the log."""
        state = self._capture_state()
        return state if state and state.phase and not state.by_log else None

    def _reads_slot(self) -> bool:
        rest = self._changing_from_log()
        return rest is not None and rest.phase is Phase.SLOT
