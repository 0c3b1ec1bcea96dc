"""Logs: one event a line, ``key=value``, on stderr; the standard output belongs to a job's result."""

from __future__ import annotations

import logging
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sluice.outside_text import in_log

_LOG = "sluice"
# Of what a process says for another one.
_MOST_LINES = 1_000


def event(what: str, **facts: object) -> None:
    """Log one event with its facts."""
    logging.getLogger(_LOG).info("%s", " ".join([what, *(f"{key}={in_log(value)}" for key, value in facts.items())]))


def to_stderr() -> None:
    """Send events to stderr, one a line, with the time."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s", force=True)
    for noisy in ("alembic", "py4j", "pyspark", "SQLQueryContextLogger"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


@contextmanager
def record_events() -> Iterator[deque[tuple[float, str]]]:
    """The last events within the block, of all threads: when each was, in seconds since 1970, and its line."""
    lines: deque[tuple[float, str]] = deque(maxlen=_MOST_LINES)
    handler = logging.Handler()
    handler.emit = lambda record: lines.append((record.created, record.getMessage()))  # type: ignore[method-assign]
    log = logging.getLogger(_LOG)
    level = log.level
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    try:
        yield lines
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def replay(lines: Iterable[tuple[float, str]]) -> None:
    """Log events of another process, see `recorded`, with their time."""
    for created, line in lines:
        record = logging.makeLogRecord({"name": _LOG, "levelno": logging.INFO, "levelname": "INFO", "msg": line})
        record.created = created
        logging.getLogger(_LOG).handle(record)
