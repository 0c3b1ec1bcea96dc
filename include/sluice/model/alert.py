"""An alert: something that people want to be told, of a replication or of a run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, order=True)
class Alert:
    """A matter of a replication; of none if a run failed."""

    source: str
    slave: str
    what: str

    def __str__(self) -> str:
        return f"{self.source}->{self.slave}: {self.what}" if self.source else f"{self.what} failed"


@dataclass(frozen=True)
class KnownAlert:
    """An alert as the last look left it.

    Attributes:
        since: when it was seen first, and `held_at` last.
        begun, over: a message says so.
        unsure: that message may not have been sent.
    """

    since: datetime
    held_at: datetime
    begun: bool = False
    over: bool = False
    unsure: bool = False


@dataclass(frozen=True)
class AlertChanges:
    """The changes by one look.

    Attributes:
        begun, over: people are to be told.
        kept: they go on, or people are told later.
        gone: nothing is to be known of them any more.
    """

    begun: list[Alert]
    over: list[Alert]
    kept: list[Alert]
    gone: list[Alert]
