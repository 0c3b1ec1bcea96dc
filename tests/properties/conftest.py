"""The small world for every test here."""

from support.world import build

__all__ = ["build"]
