"""A file of the change log, as the manifest lists it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SegmentFile:
    """A durable file: its hash and size, to be listed in the manifest."""

    name: str
    sha256: str
    bytes: int


def is_segment_of(name: str, source: str) -> bool:
    """Whether a file has the name of a segment of this source: `SOURCE-NUMBER-EPOCH-UUID`."""
    parts = name.rsplit("-", 3)
    return len(parts) == 4 and parts[0] == source and parts[2].isdecimal()
