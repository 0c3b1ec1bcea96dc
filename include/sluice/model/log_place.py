"""A place in a change log, as people write it: ``41/8``, a position; ``42``, a segment; or a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from sluice.model.position import Position

_POSITION = re.compile(r"([0-9]{1,18})/([0-9]{1,18})")
_SEGMENT = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True)
class LogPlace:
    """The place of the first of some changes; one of three.

    Attributes:
        position: behind it.
        segment: at its beginning.
        at: at the first segment that was published then, or later.
    """

    position: Position | None = None
    segment: int | None = None
    at: datetime | None = None

    @classmethod
    def parse(cls, text: str) -> LogPlace:
        """Parse a place; a time without a zone is in UTC. Raises ValueError, the text has another form."""
        text = text.strip()
        if match := _POSITION.fullmatch(text):
            return cls(position=Position(int(match[1]), int(match[2])))
        if _SEGMENT.fullmatch(text):
            return cls(segment=int(text))
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError("it is no position such as 41/8, no segment such as 42, and no time in ISO 8601") from None
        return cls(at=at if at.tzinfo else at.replace(tzinfo=UTC))
