"""The note of a DAG run, which Airflow shows beside it: where a slave stands, or what a task failed of.

A task has no other way to it than Airflow's REST API, with the configured connection. Without it there is no note.
"""

from __future__ import annotations

import logging
from typing import Any

from airflow.sdk import BaseHook, Context
from airflow.sdk.exceptions import AirflowRuntimeError

from sluice.airflow_api.client import AirflowApi
from sluice.airflow_api.runs import Runs
from sluice.config import configuration
from sluice.errors import SluiceError
from sluice.model.row_difference import without_keys
from sluice_airflow.airflow_versions import AirflowException
from sluice_airflow.sealing import info

_log = logging.getLogger(__name__)


def write(context: Context, text: str) -> None:
    """Let the note of a task's run be this, with the task's name in front if the run has several.

    Keys of rows are left out: whoever sees the run sees its note as well.
    """
    text = without_keys(text)
    ti: Any = context["ti"]
    several = len(context["dag"].task_ids) > 1
    try:
        settings = configuration.load()
        api = AirflowApi(info(BaseHook.get_connection(settings.airflow_api)))
    except (AirflowException, AirflowRuntimeError, SluiceError) as error:
        _log.info("the run gets no note: %s", str(error).partition("\n")[0])
        return
    Runs(api, settings.dag_id).note(f"{ti.dag_id}/{ti.run_id}", f"{ti.task_id}: {text}" if several else text)
