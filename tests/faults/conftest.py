"""The small worlds for every test here."""

from support.carrying import carried
from support.interrupting import interrupted, small
from support.restartable import restartable
from support.updating import updating
from support.world import build

__all__ = ["build", "carried", "interrupted", "restartable", "small", "updating"]
