"""The pools that our DAGs run in; `python -m sluice_airflow.pools` prints them as `airflow pools import` reads them.

Publishing, drains and bulk work have slots of their own, so that a dump of hours starves neither of the others; what
takes seconds has one as well, and so has whoever wants to end them.
"""

from __future__ import annotations

import json

from sluice.config import configuration

PUBLISH = "sluice_publish"
DRAIN = "sluice_drain"
BULK = "sluice_bulk"
BULK_SLOTS = 2
# For what takes seconds: gates that shut and open, and updates that are cancelled.
RESERVED = "sluice_reserved"


def slots(settings: configuration.Config) -> dict[str, int]:
    """Every source can publish, and every slave can be drained, at the same time."""
    drains = max(1, len(settings.replications))
    return {PUBLISH: len(settings.sources), DRAIN: drains, BULK: BULK_SLOTS, RESERVED: 1}


def main() -> None:
    """Print the pools of the configuration in force."""
    described = {
        name: {"slots": number, "description": "Sluice", "include_deferred": False}
        for name, number in slots(configuration.load()).items()
    }
    print(json.dumps(described, indent=2))


if __name__ == "__main__":
    main()
