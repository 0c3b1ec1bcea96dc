"""The pools of the configuration; `python -m sluice_airflow.pools` prints them as `airflow pools import` reads them."""

from __future__ import annotations

import json

from sluice.config import pools
from sluice_airflow.variables import read_configuration


def main() -> None:
    """Print the pools of the configuration in force."""
    described = {
        name: {"slots": number, "description": "Sluice", "include_deferred": False}
        for name, number in pools.slots(read_configuration()).items()
    }
    print(json.dumps(described, indent=2))


if __name__ == "__main__":
    main()
