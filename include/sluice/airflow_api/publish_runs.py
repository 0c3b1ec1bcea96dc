"""Publish runs that are asked for by a job that waits for a publisher: by its schedule it may take minutes to come."""

from __future__ import annotations

import time

from sluice.context import Context
from sluice.model.names import dag_id
from sluice.store import leases


def ask(context: Context, source: str) -> None:
    """Have Airflow begin a run of a source's publisher, unless one is at work, or somebody paused its DAG."""
    if leases.is_held(context.store, f"publish {source}") or not context.publish_switch(source).unpaused():
        return
    context.runs().ask_for(dag_id("", "publish", source), f"asked__{int(time.time())}", {})
