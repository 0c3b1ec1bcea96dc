"""The small world for every test here."""

from support.updating import updating
from support.world import build

__all__ = ["build", "updating"]
