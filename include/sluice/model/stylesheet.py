"""The stylesheet that a slave's messages pass."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Stylesheet:
    """The name and the content of a stylesheet, as tasks get them; other files of its directory are not available."""

    name: str
    text: bytes = field(repr=False)
