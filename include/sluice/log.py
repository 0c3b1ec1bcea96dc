"""Logs: one event a line, ``key=value``, on stderr; the standard output belongs to a job's result."""

from __future__ import annotations

import logging
import sys


def event(what: str, **facts: object) -> None:
    """Log one event with its facts."""
    logging.getLogger("sluice").info(
        "%s", " ".join([what, *(f"{key}={_plain(value)}" for key, value in facts.items())])
    )


def to_stderr() -> None:
    """Send events to stderr, one a line, with the time."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s", force=True)
    for noisy in ("alembic", "py4j", "pyspark", "SQLQueryContextLogger"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _plain(value: object) -> str:
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    return text if text and text.isprintable() and " " not in text else repr(text)
