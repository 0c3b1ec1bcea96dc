"""What the product does where an Airflow lacks an ability of later ones."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sluice_airflow import airflow_versions
from sluice_airflow.airflow_versions import AirflowFailException
from sluice_airflow.failures import JobCrashed, JobPostponed, KeepTrying, Retries
from sluice_airflow.operator import SluiceSparkOperator


@pytest.mark.parametrize(
    ("exit_code", "policy", "try_number", "ends"),
    [
        pytest.param(3, Retries(), 1, AirflowFailException, id="terminal"),
        pytest.param(75, Retries(), 1, JobPostponed, id="transient"),
        pytest.param(3, KeepTrying(), 1, AirflowFailException, id="terminal-of-the-patient"),
        pytest.param(1, KeepTrying(), 1, JobCrashed, id="crashed"),
        pytest.param(1, KeepTrying(), 5, AirflowFailException, id="keeps-crashing"),
    ],
)
def test_an_airflow_without_retry_policies_retries_the_same_failures(
    deployment, context, monkeypatch, exit_code, policy, try_number, ends
):
    monkeypatch.setattr(airflow_versions, "HAS_RETRY_POLICIES", False)
    deployment.job(f"import sys; print('SLC-041: a reason', file=sys.stderr); sys.exit({exit_code})")
    context["ti"].try_number = try_number
    task = SluiceSparkOperator(
        task_id="t", job="fake", arguments={"source": "flights"}, retry_policy=policy, retry_delay=timedelta(seconds=5)
    )
    assert task.retry_delay == (KeepTrying.after_crash if isinstance(policy, KeepTrying) else timedelta(seconds=5))
    with pytest.raises(ends, match="SLC-041: a reason"):
        task.execute(context)
