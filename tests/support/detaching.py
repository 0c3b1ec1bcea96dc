"""Partitions whose detachment has begun, and waits for others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg.errors import QueryCanceled
from support.waiting import until


def left_pending(detaching: psycopg.Connection[Any], looking: psycopg.Connection[Any], table: str, part: str) -> None:
    """Begin to detach a partition of a table that somebody reads, and give up half-way: it stays pending."""
    pending = "SELECT FROM pg_inherits WHERE inhdetachpending"
    with ThreadPoolExecutor(1) as pool:
        ends = pool.submit(detaching.execute, f"ALTER TABLE {table} DETACH PARTITION {part} CONCURRENTLY".encode())
        until(lambda: looking.execute(pending).fetchone() is not None, "it is not pending")
        detaching.cancel_safe()
        with pytest.raises(QueryCanceled):
            ends.result(60)
