"""A program that sends a figure as the process of a task does, whatever the Airflow."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

from airflow.sdk.execution_time import task_runner

from sluice_airflow.metrics import hand_on

if __name__ == "__main__":
    # Airflow prepares its metrics, asks its supervisor for a task, and hears of none.
    ours, supervisor = socket.socketpair()
    os.dup2(ours.fileno(), 0)
    supervisor.close()
    with suppress(SystemExit):
        task_runner.main()
    hand_on([("sluice_lag_seconds", {"slave": "zurich"}, 4.5)])
