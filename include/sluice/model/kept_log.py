"""The part of its own log that a server keeps for the capture of a master."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.model.byte_size import size


@dataclass(frozen=True)
class KeptLog:
    """The part of a master's log that is kept until it is published.

    Attributes:
        holder: the name by which the server keeps it.
        bytes: how much that is.
        state: how the server calls this.
        left_bytes: so much may be written until the server gives it up; None if it never does.
        ends: the server may give it up at any moment.
        behind_bytes: so much of the master's log a standby has not replayed, on which it is read; None if it is none.
    """

    holder: str
    bytes: int
    state: str
    left_bytes: int | None
    ends: bool
    behind_bytes: int | None = None

    @property
    def summary(self) -> str:
        """The same in a sentence without a subject."""
        left = "no limit is set" if self.left_bytes is None else f"given up after {size(self.left_bytes)} more"
        kept = f"{size(self.bytes)} of the server's log are kept by the slot {self.holder} ({self.state}; {left})"
        return (
            kept if self.behind_bytes is None else f"{kept}. The standby is {size(self.behind_bytes)} behind the master"
        )

    def is_urgent(self, most_mb: int) -> bool:
        """Whether somebody should look at it: more than `most_mb`, or half of what the server allows, are kept."""
        return (
            self.ends
            or self.bytes > most_mb * 1_000_000
            or (self.left_bytes is not None and self.bytes > self.left_bytes)
        )
