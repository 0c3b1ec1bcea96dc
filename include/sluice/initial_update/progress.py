"""Reports the progress of a load in the task's log and in the control store every few seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from types import TracebackType
from typing import NamedTuple

from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.names import TableName
from sluice.model.progress import LoadProgress, TableProgress, TableState
from sluice.store import updates
from sluice.store.engine import Store
from sluice.vendors.protocol.load import SlaveTables
from sluice.vendors.protocol.read import Chunk

SECONDS = 3.0
# The work of a chunk beside its rows, in bytes.
_CHUNK_WORK = 8192

# Told of which tables there are rows to be read still.
Unread = Callable[[Collection[TableName]], None]


class LoadedAmount(NamedTuple):
    """The loaded bytes, chunks and rows; of each table, if known. Without chunks, rows are not counted."""

    bytes: int = 0
    chunks: int = 0
    rows: int = 0
    tables: Sequence[TableProgress] = ()

    @property
    def work(self) -> int:
        """The work in bytes; an empty chunk counts as some."""
        return self.bytes + self.chunks * _CHUNK_WORK


def progress(all_: LoadedAmount, first: LoadedAmount, now: LoadedAmount, seconds: float) -> LoadProgress:
    """The progress of a load that began `seconds` ago with the rows of earlier ones (`first`)."""
    done, left = now.work - first.work, all_.work - now.work
    return LoadProgress(
        chunks=all_.chunks,
        chunks_done=now.chunks,
        rows=now.rows,
        bytes=now.bytes,
        bytes_planned=all_.bytes,
        rows_per_s=int((now.rows - first.rows) / seconds) if all_.chunks else None,
        seconds_left=round(left * seconds / done) if done else None if left else 0,
        by_table=now.tables,
    )


def by_table(chunks: Sequence[Chunk], done: Mapping[int, int], at_once: int) -> list[TableProgress]:
    """The progress of each table of a load.

    Args:
        chunks: all of them, in the order in which tasks take them.
        done: rows of the chunks that are in, by number.
        at_once: so many are loaded at the same time: the first ones that are not in yet.
    """
    running = set(islice((chunk.number for chunk in chunks if chunk.number not in done), at_once))
    chunks_of: dict[TableName, list[Chunk]] = {}
    for chunk in chunks:
        chunks_of.setdefault(chunk.leaf.table, []).append(chunk)
    return [_table_progress(str(table), ours, done, running) for table, ours in chunks_of.items()]


def _table_progress(
    table: str, chunks: Sequence[Chunk], done: Mapping[int, int], running: Container[int]
) -> TableProgress:
    loaded = [chunk for chunk in chunks if chunk.number in done]
    state = TableState.RUNNING if any(chunk.number in running for chunk in chunks) else TableState.WAITING
    return TableProgress(
        table,
        TableState.DONE if len(loaded) == len(chunks) else state,
        chunks=len(chunks),
        chunks_done=len(loaded),
        rows=sum(done[chunk.number] for chunk in loaded),
        bytes=sum(chunk.bytes for chunk in loaded),
        bytes_planned=sum(chunk.bytes for chunk in chunks),
    )


class ProgressReporter:
    """Reports while its block runs, and once at the end.

    Args:
        all_: what is to come.
        looks: each says how far one slave is.
        after: is called when all of them have looked.
    """

    def __init__(
        self,
        store: Store,
        update: int,
        all_: LoadedAmount,
        looks: Sequence[Callable[[], LoadedAmount]],
        after: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._update = update
        self._all = all_
        self._looks = looks
        self._after = after
        self._first: list[LoadedAmount] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._report, name="progress", daemon=True)
        self._began = time.monotonic()

    def __enter__(self) -> ProgressReporter:
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
            now = [look() for look in self._looks]
            self._after()
            self._first = self._first or now
            both = zip(now, self._first, strict=True)
            slowest, first = min(both, key=lambda amounts: amounts[0][:3], default=(LoadedAmount(), LoadedAmount()))
            report = progress(self._all, first, slowest, time.monotonic() - self._began)
            if ended and report.seconds_left:
                # It broke off.
                report = replace(report, seconds_left=None, by_table=[_at_rest(table) for table in report.by_table])
            updates.report(self._store, self._update, report)
        except SluiceError:
            return
        facts: dict[str, object] = {"mb": f"{slowest.bytes / 1e6:.1f}/{self._all.bytes / 1e6:.1f}"}
        if report.chunks:
            chunks = f"{report.chunks_done}/{report.chunks}"
            facts = {"chunks": chunks, "rows": report.rows, **facts, "rows_per_s": report.rows_per_s}
        event("progress", **facts, seconds_left="?" if report.seconds_left is None else report.seconds_left)


def _at_rest(table: TableProgress) -> TableProgress:
    return replace(table, state=TableState.WAITING) if table.state is TableState.RUNNING else table


def reporting_chunks(
    store: Store, update: int, slaves: Sequence[SlaveTables], chunks: Sequence[Chunk], *, at_once: int, unread: Unread
) -> ProgressReporter:
    """Reports what slaves have committed of these chunks, and tells which tables have chunks that one of them lacks.

    Args:
        at_once: so many are loaded at the same time.
    """
    wanted = [[chunk for chunk in chunks if not slave.mapper.excludes(chunk.leaf.table)] for slave in slaves]
    sizes = {chunk.number: chunk.bytes for chunk in chunks}
    lacking = [set(sizes) for _ in slaves]

    def far(index: int) -> LoadedAmount:
        done = slaves[index].progress()
        lacking[index] = sizes.keys() - done.keys()
        size = sum(sizes.get(number, 0) for number in done)
        return LoadedAmount(size, len(done), sum(done.values()), by_table(wanted[index], done, at_once))

    def report() -> None:
        left = set().union(*lacking)
        unread({chunk.leaf.table for chunk in chunks if chunk.number in left})

    looks = [partial(far, place) for place in range(len(slaves))]
    return ProgressReporter(store, update, LoadedAmount(sum(sizes.values()), len(chunks)), looks, report)
