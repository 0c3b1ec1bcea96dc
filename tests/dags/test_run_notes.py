"""The note of a run, which Airflow shows beside it: how a task ended."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from airflow.sdk.exceptions import AirflowSkipException

from sluice_airflow.failures import JobFailed, JobPostponed
from sluice_airflow.operator import SluiceSparkOperator


def operator(**kwargs) -> SluiceSparkOperator:
    return SluiceSparkOperator(task_id="t", job="fake", arguments={"source": "flights"}, **kwargs)


@pytest.fixture
def noted(airflow, connect, deployment):
    """The notes of runs, as Airflow's REST API keeps them."""
    connect(
        "test_airflow_api",
        conn_type="http",
        host="127.0.0.1",
        port=airflow.server_port,
        login="admin",
        password="secret",
    )
    return airflow.notes


@pytest.mark.parametrize(
    ("job", "tries", "ends", "note"),
    [
        pytest.param('print(\'{"note": "NORMAL, ACTIVE"}\')', 1, None, "NORMAL, ACTIVE", id="done"),
        pytest.param(
            'print(\'{"idle": "the replication is INCONSISTENT", "note": "INCONSISTENT since noon"}\')',
            1,
            AirflowSkipException,
            "INCONSISTENT since noon",
            id="nothing-to-do",
        ),
        pytest.param(
            "import sys; print('SLC-073: no\\nHINT: do', file=sys.stderr); sys.exit(3)",
            1,
            JobFailed,
            "SLC-073: no\nHINT: do",
            id="failed",
        ),
        # Keys of rows are for administrators, and everybody reads notes who may see the run.
        pytest.param(
            "import sys; print('SLC-090: t; first keys: t (k1,\\n  k2)\\nHINT: do', file=sys.stderr); sys.exit(3)",
            1,
            JobFailed,
            "SLC-090: t; first keys: ···\nHINT: do",
            id="rows-differ",
        ),
        pytest.param(
            "import sys; print('SLC-030: gone\\nHINT: start it', file=sys.stderr); sys.exit(75)",
            1,
            JobPostponed,
            "SLC-030: gone\nHINT: start it",
            id="passes",
        ),
        pytest.param(
            "import sys; print('SLC-030: gone\\nHINT: start it', file=sys.stderr); sys.exit(75)",
            2,
            AirflowSkipException,
            "SLC-030: gone\nHINT: start it",
            id="does-not-pass-soon",
        ),
    ],
)
def test_the_note_of_a_run_says_how_it_ended(deployment, context, noted, job, tries, ends, note):
    deployment.job(job)
    context["ti"].try_number = tries
    task = operator(skip_if="idle", patience=2)
    with pytest.raises(ends) if ends else nullcontext():
        task.execute(context)
    assert noted == {"d/r": note}


def test_the_note_of_a_run_of_several_tasks_names_the_one_that_wrote_it(deployment, context, noted):
    deployment.job("import sys; print('SLC-080: no', file=sys.stderr); sys.exit(3)")
    context["dag"].task_ids.append("another")
    with pytest.raises(JobFailed):
        operator().execute(context)
    assert noted == {"d/r": "t: SLC-080: no"}
