"""The pools that our DAGs run in; `python -m sluice_airflow.pools` prints them as `airflow pools import` reads them.

Publishing, drains and bulk work have slots of their own, so that a dump of hours starves neither of the others.
"""

from __future__ import annotations

import json

from sluice import config

PUBLISH = "sluice_publish"
DRAIN = "sluice_drain"
BULK = "sluice_bulk"
BULK_SLOTS = 2


def slots(settings: config.Config) -> dict[str, int]:
    """Every source can publish, and every slave can be drained, at the same time."""
    return {PUBLISH: len(settings.sources), DRAIN: max(1, len(settings.replications)), BULK: BULK_SLOTS}


def main() -> None:
    """Print the pools of the configuration in force."""
    described = {
        name: {"slots": number, "description": "Sluice", "include_deferred": False}
        for name, number in slots(config.load()).items()
    }
    print(json.dumps(described, indent=2))


if __name__ == "__main__":
    main()
