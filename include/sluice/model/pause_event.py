"""Events of Airflow's log by which somebody switched a DAG."""

from __future__ import annotations

import json
from contextlib import suppress


def pause_state(extra: str | None) -> bool | None:
    """Whether an event `patch_dag` of Airflow's log paused a DAG, or unpaused it; None if it did neither.

    Args:
        extra: what the log keeps of the request.
    """
    with suppress(ValueError):
        asked = json.loads(extra or "{}")
        paused = asked.get("is_paused") if isinstance(asked, dict) else None
        return paused if isinstance(paused, bool) else None
    return None
