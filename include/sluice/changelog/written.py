"""A file of the change log, as the manifest lists it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Written:
    """A durable file: its hash and size, to be listed in the manifest."""

    name: str
    sha256: str
    bytes: int
