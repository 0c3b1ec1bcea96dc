"""What the demo asks of Airflow: unpause, trigger, wait; through its REST API, as a user's script would."""

from __future__ import annotations

import time
from collections.abc import Callable
from urllib.parse import quote

from sluice.control.airflow_api import AirflowApi
from sluice.errors import SluiceError

DAG_PATIENCE_S = 60.0
RUN_PATIENCE_S = 600.0


def unpause(api: AirflowApi, dags: list[str]) -> None:
    """Wait until Airflow has read the DAGs, then unpause them."""
    deadline = time.monotonic() + DAG_PATIENCE_S
    for dag in dags:
        while True:
            try:
                if api.ask(f"/api/v2/dags/{quote(dag)}")["is_paused"]:
                    api.ask(f"/api/v2/dags/{quote(dag)}", "PATCH", {"is_paused": False})
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    raise SluiceError(
                        951,
                        f"Airflow does not know the DAG {dag} after {DAG_PATIENCE_S:.0f} s ({error})",
                        "SLUICE_HOME/logs/dag-processor.log says why; mend that, and run `./sluice demo` again",
                    ) from None
                time.sleep(0.3)


def trigger(api: AirflowApi, dag: str, conf: dict[str, object]) -> str:
    """Start a run; its id."""
    return str(
        api.ask(f"/api/v2/dags/{quote(dag)}/dagRuns", "POST", {"logical_date": None, "conf": conf})["dag_run_id"]
    )


def wait(api: AirflowApi, dag: str, run: str, tell: Callable[[str], None]) -> None:
    """Wait for a run's end, telling its tasks' states. Raises SluiceError SLC-952 if it failed."""
    deadline = time.monotonic() + RUN_PATIENCE_S
    path = f"/api/v2/dags/{quote(dag)}/dagRuns/{quote(run)}"
    while True:
        state = api.ask(path)["state"]
        tasks = api.ask(f"{path}/taskInstances")["task_instances"]
        tell(
            ", ".join(f"{task['task_id']} {task['state']}" for task in tasks if task["state"] not in (None, "skipped"))
        )
        if state == "success":
            return
        if state == "failed" or time.monotonic() > deadline:
            raise SluiceError(
                952,
                f"the run {run} of {dag} is {state}",
                "its task's log in the Airflow UI says why; mend that, and run `./sluice demo` again",
            )
        time.sleep(0.5)
