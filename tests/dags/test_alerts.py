"""The examples of alerts in the documentation, as a DAG file has them."""

from __future__ import annotations

import json
import re
import socket

import pytest
from airflow.serialization.serialized_objects import DagSerialization

from sluice.monitor.signals import SIGNALS
from sluice.paths import PROJECT
from sluice_airflow.alert_operator import AlertOperator
from sluice_airflow.failures import JobFailed

pytestmark = [pytest.mark.airflow]
DOC = (PROJECT / "include" / "docs" / "monitoring.md").read_text(encoding="utf-8").partition("## Alerts")[2]
(DEADLINE,) = re.findall(r"```python\n(.*?)```", DOC, re.DOTALL)


def ran(example: str, deployment, monkeypatch) -> dict[str, object]:
    monkeypatch.setenv("SLUICE_CONFIG", str(deployment.path / "replication.yaml"))
    names: dict[str, object] = {}
    exec(compile(example, "monitoring.md", "exec"), names)
    return names


def test_a_deadline_is_of_the_update(deployment, monkeypatch):
    made = ran(DEADLINE.replace("sluice_dags()[", "dags = sluice_dags()\ndags["), deployment, monkeypatch)["dags"]
    assert "deadline" in str(DagSerialization.to_dict(made["initial_update"])["dag"])


def test_rules_of_prometheus_name_metrics_that_exist():
    assert set(re.findall(r"sluice_\w+", DOC.partition("groups:")[2].partition("```")[0])) <= {
        one.name for one in SIGNALS
    }


def send_alert(deployment, context, *receivers: str) -> list[str]:
    """Let the task of the DAG `alerts` send a message; the arguments of its jobs."""
    with (deployment.path / "replication.yaml").open("a") as file:
        file.write(f"alerts: {{to: {json.dumps(receivers)}}}\n")
    calls = deployment.path / "calls"
    deployment.job(
        f"import sys; open({str(calls)!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')\n"
        'print(\'{"began": 1, "over": 0, "subject": "s", "text": "t"}\')'
    )
    try:
        task = AlertOperator(task_id="alerts", job="fake", arguments={})
        task.patience_s = 2
        task.execute(context)
    finally:
        context["jobs"] = calls.read_text().splitlines()
    return context["jobs"]


def test_an_alert_that_nobody_takes_fails_the_run(deployment, context):
    with pytest.raises(JobFailed, match="SLC-934: an alert was taken by none of slackwebhook://ops"):
        send_alert(deployment, context, "slackwebhook://ops")
    assert context["jobs"] == [""]


def test_a_server_that_hangs_is_waited_for_within_limits(deployment, context, connect):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        extra = {"disable_ssl": True, "from_email": "a@b.c"}
        connect("mails", conn_type="smtp", host="127.0.0.1", port=silent.getsockname()[1], extra=extra)
        with pytest.raises(JobFailed, match="SLC-934"):
            send_alert(deployment, context, "smtp://mails?to=a@b.c")
    assert context["jobs"] == [""]
