"""The log of events as CSV: one schema, without some tables, a file a day.

It begins where the logs end when the relay starts.
"""

from __future__ import annotations

import asyncio
import csv
import io
import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sluice import paths
from sluice.config.relay import CsvLog
from sluice.errors import TransientError
from sluice.log import event
from sluice.model.names import TableName
from sluice.outside_text import in_csv, in_json
from sluice.relay.log_reader import LogSlice, trimmed_log_error
from sluice.relay.payloads import EventKind, RelayEvent
from sluice.storage import private_files

HEADER = ("seen_at", "source", "position", "event", "schema", "table", "before", "after")
_NAME = "events-{:%Y-%m-%d}.csv"


class CsvLogger:
    """Writes events; `before` and `after` are JSON objects, of a column's name and its value."""

    version = 0
    is_ready = True

    def __init__(self, settings: CsvLog, ends: Mapping[str, int]) -> None:
        self.cursors = dict(ends)
        self._settings = settings
        self._directory = Path(paths.at_home(settings.directory))
        self._has_failed = False
        # Sources are read beside each other.
        self._write_lock = asyncio.Lock()

    def wants(self, table: TableName) -> bool:
        """Whether a table's events are logged."""
        return table.schema == self._settings.schema_ and table.table not in self._settings.exclude

    async def take(self, source: str, log_slice: LogSlice) -> None:
        """Write what was read, in a thread; what cannot be written is tried again."""
        async with self._write_lock:
            if await asyncio.to_thread(self._try_write, source, log_slice):
                self.cursors[source] = log_slice.end
                if log_slice.lost:
                    # The log is kept for clients alone: a disk that was full for long.
                    event("WARNING events not logged", why=trimmed_log_error(source).message)

    def _try_write(self, source: str, log_slice: LogSlice) -> bool:
        now = datetime.now(UTC)
        mine = [packed for packed in log_slice.events if self.wants(packed.table)]
        text = io.StringIO()
        writer = csv.writer(text)
        for packed in mine:
            change = RelayEvent.decode(packed.payload(0))
            named = map(in_csv, (change.schema, change.table))
            writer.writerow([now.isoformat(), source, change.position, change.kind.name, *named, *_images(change)])
        try:
            if mine:
                self._write(_NAME.format(now), text.getvalue(), now)
        except OSError as error:
            if not self._has_failed:
                failure = TransientError(
                    658,
                    f"events cannot be logged to {self._directory}: {error.strerror or error}",
                    "make room, or fix its rights; it is tried again; what the change log loses until then is missing",
                )
                event("WARNING events not logged", why=failure.message)
            self._has_failed = True
            return False
        self._has_failed = False
        return True

    def _write(self, name: str, text: str, now: datetime) -> None:
        # Values of rows are for their owner.
        private_files.make(self._directory)
        if paths.is_at_home(self._directory):
            self._directory.chmod(private_files.DIRECTORY)
        with private_files.open_append(self._directory / name) as opened:
            file = opened.fileno()
            os.fchmod(file, private_files.FILE)
            whole = os.fstat(file).st_size
            is_new = whole == 0
            rest = memoryview(((",".join(HEADER) + "\r\n" if is_new else "") + text).encode())
            try:
                # Without a buffer, which would be written again when the file is cut or closed.
                while rest:
                    rest = rest[os.write(file, rest) :]
            except OSError:
                # No half line, and nothing twice.
                os.ftruncate(file, whole)
                raise
        if is_new:
            oldest = _NAME.format(now - timedelta(days=self._settings.keep_days))
            for old in self._directory.glob("events-????-??-??.csv"):
                if old.name <= oldest:
                    old.unlink(missing_ok=True)


def _images(change: RelayEvent) -> tuple[str, str]:
    before = (
        {} if change.kind is EventKind.INSERT else {column.name: _as_text(column.before) for column in change.columns}
    )
    after = (
        {} if change.kind is EventKind.DELETE else {column.name: _as_text(column.after) for column in change.columns}
    )
    return in_json(before), in_json(after)


def _as_text(value: str) -> str:
    """A value; bytes that are no text as their digits."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return "\\x" + value.encode(errors="surrogateescape").hex()
    return value
