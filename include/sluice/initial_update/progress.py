"""How far a load is: in the task's log, and in the control store, every few seconds while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import NamedTuple

from sluice.control import updates
from sluice.control.store import Store
from sluice.errors import SluiceError
from sluice.initial_update.plan import BLOCK_BYTES, Chunk
from sluice.log import event
from sluice.model.progress import Progress
from sluice.vendors.dumping import SlaveTables

SECONDS = 3.0


class _Far(NamedTuple):
    """What is in: bytes, chunks and rows."""

    bytes: int = 0
    chunks: int = 0
    rows: int = 0

    @property
    def work(self) -> int:
        """What it takes; a chunk is some work, even if it has no rows."""
        return self.bytes + self.chunks * BLOCK_BYTES


def progress(all_: _Far, first: _Far, now: _Far, seconds: float) -> Progress:
    """How far a load is that began with what earlier ones had brought, this many seconds ago."""
    done, left = now.work - first.work, all_.work - now.work
    return Progress(
        chunks=all_.chunks,
        chunks_done=now.chunks,
        rows=now.rows,
        bytes=now.bytes,
        bytes_planned=all_.bytes,
        rows_per_s=int((now.rows - first.rows) / seconds),
        seconds_left=round(left * seconds / done) if done else None if left else 0,
    )


class Reporting:
    """Reports while its block runs, from what the slaves have committed, and once at the end."""

    def __init__(self, store: Store, update: int, slaves: Sequence[SlaveTables], chunks: Sequence[Chunk]) -> None:
        self._store = store
        self._update = update
        self._slaves = slaves
        self._sizes = {chunk.number: chunk.bytes for chunk in chunks}
        self._all = _Far(sum(self._sizes.values()), len(chunks))
        self._first: list[_Far] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._report, name="progress", daemon=True)
        self._began = time.monotonic()

    def __enter__(self) -> Reporting:
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._look(ended=True)

    def _report(self) -> None:
        while not self._over.wait(SECONDS):
            self._look()

    def _look(self, *, ended: bool = False) -> None:
        try:
            now = [self._far(slave) for slave in self._slaves]
            self._first = self._first or now
            slowest, first = min(zip(now, self._first, strict=True), default=(_Far(), _Far()))
            found = progress(self._all, first, slowest, time.monotonic() - self._began)
            if ended and found.seconds_left:
                # It broke off.
                found = replace(found, seconds_left=None)
            updates.report(self._store, self._update, found)
        except SluiceError:
            return
        event(
            "progress",
            chunks=f"{found.chunks_done}/{found.chunks}",
            rows=found.rows,
            mb=f"{slowest.bytes / 1e6:.1f}/{self._all.bytes / 1e6:.1f}",
            rows_per_s=found.rows_per_s,
            seconds_left="?" if found.seconds_left is None else found.seconds_left,
        )

    def _far(self, slave: SlaveTables) -> _Far:
        done = slave.progress()
        return _Far(sum(self._sizes.get(number, 0) for number in done), len(done), sum(done.values()))
