"""The relay's counts of its own work."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class ServerCounts:
    """Counts since the start, in seconds since 1970."""

    started_at: float = field(default_factory=time.time)
    connections: int = 0
    refused: int = 0
    malformed: int = 0
    wrong_secrets: int = 0

    @property
    def instance(self) -> int:
        """A number of this run of the relay, of 32 bits."""
        return int(self.started_at) & 0xFFFFFFFF
