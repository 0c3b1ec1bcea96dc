"""The stylesheet that a slave's messages pass."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Stylesheet:
    """A stylesheet as it travels to where rows are; nothing else of its directory does."""

    name: str
    text: bytes = field(repr=False)
