"""Makes Airflow ready for Sluice: its database, our connections and pools.

Run as `python -m sluice_airflow.prepare`.

Reads {"connections": [{"conn_id": ..., "conn_type": ..., "password": ..., ...}]} from standard input, so that no
password is ever in a command line or a file. No scheduler may be running: what one left behind is given up.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from sluice.config import configuration, pools
from sluice_airflow import connecting


def prepare(connections: list[Mapping[str, Any]], slots: Mapping[str, int]) -> None:
    """Bring the database to this version of Airflow, and set what is given; other connections and pools stay."""
    from airflow.models import Pool
    from airflow.utils.db import initdb
    from airflow.utils.session import create_session

    initdb()
    with create_session() as session:
        connecting.put(session, connections)
        for name, number in slots.items():
            Pool.create_or_update_pool(name, number, "Sluice", include_deferred=False, session=session)
        _give_up_dead_schedulers(session)


def _give_up_dead_schedulers(session: Any) -> None:
    """A killed scheduler looks alive until its last heartbeat is old; its tasks would wait for that long."""
    from airflow.jobs.job import Job, JobState
    from sqlalchemy import update

    session.execute(update(Job).where(Job.state == JobState.RUNNING).values(state=JobState.FAILED))


if __name__ == "__main__":
    prepare(json.load(sys.stdin)["connections"], pools.slots(configuration.load()))
