"""The last success and the last error of a publisher or a drain, as programs and pages get them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sluice.store.outcomes import Outcome


@dataclass(frozen=True)
class RunOutcome:
    """The last success and the last error of runs.

    Attributes:
        fails: the last run failed, and none went on since.
        succeeded_at, failed_at: when that was, as ISO 8601; None if it never was.
        error: of the last run that failed, with its HINT.
    """

    fails: bool = False
    succeeded_at: str | None = None
    failed_at: str | None = None
    error: str = ""

    @classmethod
    def from_store(cls, outcome: Outcome) -> RunOutcome:
        """The outcome that the store has."""
        return cls(outcome.fails, _text(outcome.succeeded_at), _text(outcome.failed_at), outcome.error)

    @property
    def succeeded_s(self) -> float | None:
        """The last success in seconds since 1970."""
        return datetime.fromisoformat(self.succeeded_at).timestamp() if self.succeeded_at else None


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
