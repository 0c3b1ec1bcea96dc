"""Capabilities of databases. Core code asks for them, and never for a vendor's name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Capabilities:
    """The capabilities of a database, and of our role on it.

    Attributes:
        events_fire: of a master: its settings let event triggers fire.
        sends_ddl: of a master: its definitions of tables go into the stream as commands.
    """

    event_triggers: bool = False
    events_fire: bool = True
    transactional_ddl: bool = False
    silent_triggers: bool = False
    sends_ddl: bool = True


@dataclass(frozen=True)
class CaptureWay:
    """One way of capturing a master's changes, as it is known without a session.

    Attributes:
        place: the place where changes wait until they are published, as people call it.
        unread: what becomes of the master or of the changes if nobody publishes for long, behind "Changes wait in ..."
        from_log: changes of rows are read from the server's own log.
        says_kept: the server keeps that log until it is published: whether `kept_log` says how much; None if it does
            not keep it for us.
    """

    # A way that this vendor does not have is refused once a session is opened; until then there is no better word.
    place: str = "the source"
    unread: str = "and nobody takes them"
    from_log: bool = False
    says_kept: bool | None = None

    @property
    def waiting(self) -> str:
        """A sentence: where changes wait."""
        return f"Changes wait in {self.place}"


TRIGGERS = CaptureWay("ITEMS", "and fill the master's disk")
