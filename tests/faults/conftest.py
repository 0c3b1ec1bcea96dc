"""The small worlds for every test here."""

from support.restartable import restartable
from support.updating import updating
from support.world import build

__all__ = ["build", "restartable", "updating"]
