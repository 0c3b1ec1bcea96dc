"""The relay's log of CSV on a disk that is full: nothing is written by half, twice, or without a header."""

from __future__ import annotations

import asyncio
import csv
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sluice.config.relay import CsvLog
from sluice.model.names import TableName
from sluice.relay.csv_log import HEADER, CsvLogger
from sluice.relay.log_reader import LogSlice, PackedEvent, cursor_at
from sluice.relay.payloads import EventKind, event_body

STOCK = TableName("public", "stock")


def event(number: int) -> PackedEvent:
    return PackedEvent(
        cursor_at(1, number),
        EventKind.INSERT,
        STOCK,
        event_body("public", "stock", [("id", b"", str(number).encode())]),
        0,
    )


@contextmanager
def room(size: int) -> Iterator[None]:
    """No file of this process grows beyond that."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_its_directory_and_files_are_for_their_owner_also_if_they_were_there(tmp_path, monkeypatch):
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path))
    directory = tmp_path / "relay_log"
    directory.mkdir(mode=0o755)
    (directory / f"events-{datetime.now(UTC):%Y-%m-%d}.csv").touch(0o644)
    logger = CsvLogger(CsvLog(schema="public"), {"shop": cursor_at(1)})
    asyncio.run(logger.take("shop", LogSlice(cursor_at(1), cursor_at(2), (event(1),))))
    assert logger.cursors == {"shop": cursor_at(2)}
    assert [one.stat().st_mode & 0o777 for one in (directory, *directory.iterdir())] == [0o700, 0o600]


@pytest.mark.parametrize("before", [0, 2])
@pytest.mark.parametrize("size", [0, 10, 150])
def test_what_a_full_disk_did_not_take_is_written_once_and_whole(tmp_path, caplog, before, size):
    caplog.set_level("INFO", "sluice")
    logger = CsvLogger(CsvLog(schema="public", directory=str(tmp_path)), {"shop": cursor_at(1)})
    first, second = (tuple(map(event, numbers)) for numbers in (range(1, 1 + before), range(1 + before, 9)))

    def take(begin: int, end: int, events: tuple[PackedEvent, ...]) -> None:
        asyncio.run(logger.take("shop", LogSlice(begin, end, events)))

    take(cursor_at(1), cursor_at(1, before), first)
    written = sum(file.stat().st_size for file in tmp_path.iterdir())
    with room(written + size):
        take(cursor_at(1, before), cursor_at(2), second)
        take(cursor_at(1, before), cursor_at(2), second)
    assert logger.cursors == {"shop": cursor_at(1, before)}
    assert caplog.text.count("SLC-658") == 1
    file = only(tmp_path)
    assert file.stat().st_size == written
    take(cursor_at(1, before), cursor_at(2), second)
    assert logger.cursors == {"shop": cursor_at(2)}
    with file.open(newline="") as lines:
        header, *rows = csv.reader(lines)
    assert tuple(header) == HEADER
    assert [row[2] for row in rows] == [str(cursor_at(1, number)) for number in range(1, 9)]


def test_events_that_the_log_has_no_more_are_missed_aloud(tmp_path, caplog):
    caplog.set_level("INFO", "sluice")
    logger = CsvLogger(CsvLog(schema="public", directory=str(tmp_path)), {"shop": cursor_at(1)})
    asyncio.run(logger.take("shop", LogSlice(cursor_at(1), cursor_at(1, 9), (event(9),), lost=True)))
    assert logger.cursors == {"shop": cursor_at(1, 9)}
    assert caplog.text.count("SLC-412") == 1


def only(directory: Path) -> Path:
    (file,) = directory.iterdir()
    return file
