"""End the services: Airflow at once, jobs with time to release what they hold, then Spark.

Airflow's processes are killed, not asked: a scheduler that is asked waits for its tasks, and a task that is asked
reports a failure, which would pause a drain. A task of which nothing is heard any more is simply run again.
"""

from __future__ import annotations

import contextlib
import signal

import psutil

from sluice.runtime import airflow, processes, spark_connect
from sluice.runtime.paths import RuntimePaths
from sluice.runtime.state import RuntimeState
from sluice.runtime.terminal import Progress

GRACE_S = 10.0


def end_all(layout: RuntimePaths, state: RuntimeState, progress: Progress) -> None:
    """End Airflow, jobs and Spark of this home, and what an earlier start may have left; PostgreSQL stays."""
    spark = processes.family(filter(None, [state.find_running(spark_connect.NAME)]))
    services = filter(None, map(state.find_running, airflow.SERVICES))
    others = {process.pid: process for process in [*processes.family(services), *processes.list_marked(layout.home)]}
    for process in spark:
        others.pop(process.pid, None)
    if spark or others:
        with progress.step("stopping Airflow and Spark"):
            jobs = [process for process in others.values() if _is_job(process)]
            job_pids = {process.pid for process in jobs}
            rest = [process for pid, process in others.items() if pid not in job_pids]
            processes.end(rest, signal.SIGKILL, 5)
            processes.end(jobs, signal.SIGTERM, GRACE_S)
            processes.end(spark, signal.SIGTERM, GRACE_S)
    state.forget_services()


def _is_job(process: psutil.Process) -> bool:
    """Whether it is a Spark job, or was started by one."""
    with contextlib.suppress(psutil.Error):
        return any("/spark_jobs/" in word for ancestor in [process, *process.parents()] for word in ancestor.cmdline())
    return False
