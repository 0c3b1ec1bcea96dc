"""Events of Airflow's log by which somebody switched a DAG."""

from __future__ import annotations

import json
from contextlib import suppress


def pauses(extra: str | None) -> bool:
    """Whether an event `patch_dag` of Airflow's log paused a DAG; the same event unpauses one.

    Args:
        extra: what the log keeps of the request.
    """
    with suppress(ValueError):
        asked = json.loads(extra or "{}")
        return isinstance(asked, dict) and asked.get("is_paused") is True
    return False
