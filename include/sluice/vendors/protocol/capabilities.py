"""Capabilities of databases. Core code asks for them, and never for a vendor's name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Capabilities:
    """The capabilities of a database, and of our role on it.

    Attributes:
        sends_ddl: of a master: its definitions of tables go into the stream as commands.
    """

    event_triggers: bool = False
    transactional_ddl: bool = False
    silent_triggers: bool = False
    sends_ddl: bool = True
