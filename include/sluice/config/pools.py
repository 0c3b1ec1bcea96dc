"""The pools that our DAGs run in.

Publishing, drains and bulk work have slots of their own, so that a dump of hours starves neither of the others; what
takes seconds has one as well, and so have the tasks that end them.
"""

from __future__ import annotations

from sluice.config.configuration import Config

PUBLISH = "sluice_publish"
DRAIN = "sluice_drain"
BULK = "sluice_bulk"
BULK_SLOTS = 2
# For what takes seconds: gates that shut and open, and updates that are cancelled.
RESERVED = "sluice_reserved"


def slots(settings: Config) -> dict[str, int]:
    """Every source can publish, and every slave can be drained, at the same time."""
    drains = max(1, len(settings.replications))
    return {PUBLISH: len(settings.sources), DRAIN: drains, BULK: BULK_SLOTS, RESERVED: 1}
