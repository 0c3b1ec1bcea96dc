"""Sizes that tests cut by."""

from __future__ import annotations

# A block of a PostgreSQL server.
BLOCK_BYTES = 8192
