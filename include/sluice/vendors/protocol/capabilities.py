"""What databases can do that core code asks for; it never asks for a vendor's name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Capabilities:
    """What a database, or the role we have on it, can do; core code never asks for a vendor's name."""

    event_triggers: bool = False
    transactional_ddl: bool = False
    silent_triggers: bool = False
