"""How far a dump is: in the task's log, and in the control store, every few seconds while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from types import TracebackType

from sluice.control.store import Store
from sluice.control.tables import initial_update
from sluice.errors import SluiceError
from sluice.log import event
from sluice.vendors.dumping import SlaveTables

SECONDS = 3.0


class Progress:
    """Reports while its block runs, from what the slaves have committed, and once at the end."""

    def __init__(self, store: Store, update: int, slaves: Sequence[SlaveTables], chunks: int) -> None:
        self._store = store
        self._update = update
        self._slaves = slaves
        self._chunks = chunks
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._report, name="progress", daemon=True)
        self._began = time.monotonic()

    def __enter__(self) -> Progress:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._look()

    def _report(self) -> None:
        while not self._over.wait(SECONDS):
            self._look()

    def _look(self) -> None:
        try:
            done, rows = min((slave.progress() for slave in self._slaves), default=(0, 0))
            with self._store.begin() as connection:
                values = {"chunks_done": done, "rows": rows}
                connection.execute(initial_update.update().where(initial_update.c.id == self._update).values(values))
        except SluiceError:
            return
        seconds = time.monotonic() - self._began
        left = seconds / done * (self._chunks - done) if done else 0.0
        event(
            "progress",
            chunks=f"{done}/{self._chunks}",
            rows=rows,
            rows_per_s=int(rows / seconds),
            seconds_left=int(left),
        )
