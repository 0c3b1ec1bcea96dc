"""Where servers of a test session listen, if they can."""

from __future__ import annotations

import os


def port(offset: int = 0) -> int:
    """The port to try first. Sessions that run side by side begin at different ones: else two might take the same."""
    return 20_000 + os.getpid() % 200 * 50 + offset
