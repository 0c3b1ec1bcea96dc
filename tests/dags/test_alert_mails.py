"""Alerts without Python: the DAG looks, and Airflow's own notifier tells people, by a mail server of the test."""

from __future__ import annotations

import pytest
import yaml
from airflow.sdk.bases.operator import ExecutorSafeguard
from support.places import reserve_port
from support.smtp import mail_server

from sluice.airflow_api.client import dag_run
from sluice.config import configuration
from sluice.connections import KEY_FILE_ENV, new_key_file
from sluice.state.dispatcher import Hold
from sluice.store import replications
from sluice_airflow.alert_operator import AlertOperator
from sluice_airflow.failures import JobFailed
from sluice_airflow_dags.alerts import alerts

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
CANARY = "canary-7d1e-of-mails"
# What others say is no template of Airflow's, and no mark of a mail's.
REASON = "stopped: {{ conn.master.password }} <b>&"


@pytest.fixture
def port():
    """Where the mail server is to be."""
    return reserve_port()


@pytest.fixture
def look(pages_world, port, connect, monkeypatch, context, jobs_here):
    """Lets the task of the DAG run once, as Airflow does."""
    key_file = pages_world.path / "seal.key"
    new_key_file(key_file)
    monkeypatch.setenv(KEY_FILE_ENV, str(key_file))
    monkeypatch.setattr(ExecutorSafeguard, "test_mode", True)
    extra = {"disable_ssl": True, "disable_tls": True, "from_email": "sluice@example.com"}
    login = {"login": "sluice", "password": CANARY}
    connect("mails", conn_type="smtp", host="127.0.0.1", port=port, extra=extra, **login)
    connect("sluice_spark", conn_type="spark_connect", host="127.0.0.1", port=15002)
    settings = {"to": "smtp://mails?to=dba@example.com", "after_s": 0}
    pages_world.settings["alerts"] = settings
    (pages_world.path / "replication.yaml").write_text(yaml.safe_dump(pages_world.settings))
    dag = alerts(configuration.load())
    assert dag
    (task,) = dag.tasks
    assert isinstance(task, AlertOperator)

    def looking() -> dict[str, object]:
        context["ti"].run_id = f"{context['ti'].run_id}1"
        task.arguments = {}
        return task.execute(context)

    return looking


def test_people_get_one_mail_when_something_begins_and_one_when_it_is_over(pages_world, look, port, people, caplog):
    store, geneva = pages_world.context.store, pages_world.pair("geneva")
    with mail_server(port):
        # Runs of other tests failed in the same Airflow.
        look()
    replications.shut(store, geneva, Hold.EXCEPTION, REASON)
    with pytest.raises(JobFailed, match=r"SLC-934: an alert was taken by none of smtp://mails"):
        look()
    admin, runs = people["admin"], "/api/v2/dags/administer/dagRuns"
    admin.ask(runs, "POST", dag_run("failed", {"source": "flights", "slave": "geneva"}))
    with mail_server(port) as server:
        looks = [look()]
        admin.ask(f"{runs}/failed", "PATCH", {"state": "failed", "note": "SLC-020: no\nHINT: type curl"})
        looks += [look(), look()]
        replications.lift(store, geneva, Hold.EXCEPTION, "repaired")
        looks += [look(), look()]
    assert [(each["began"], each["over"]) for each in looks] == [(1, 0), (1, 0), (0, 0), (0, 1), (0, 0)]
    assert [(mail["To"], mail["Subject"]) for mail in server.mails] == [
        ("dba@example.com", "Sluice: flights->geneva: stopped by an error"),
        ("dba@example.com", "Sluice: run administer/failed failed"),
        ("dba@example.com", "Sluice: over: flights->geneva: stopped by an error"),
    ]
    bodies = [mail.get_body().get_content() for mail in server.mails]
    assert "{{ conn.master.password }} &lt;b&gt;&amp;" in bodies[0]
    # People can edit it, so it is quoted, and has no HINT of its own.
    assert "its note, which people can edit, says: SLC-020: no\\nHINT: type curl" in bodies[1]
    told = "".join(map(str, server.mails)) + "".join(bodies) + caplog.text
    assert not [info.password for info in pages_world.infos.values() if info.password and info.password in told]
    assert CANARY not in told


class Killed(BaseException):
    """The process of the task ends here."""


@pytest.mark.full
def test_what_a_killed_task_did_not_tell_the_next_one_tells(pages_world, look, port, monkeypatch):
    store, geneva = pages_world.context.store, pages_world.pair("geneva")

    def killed(*_):
        raise Killed

    def kill_before_it_sends():
        with monkeypatch.context() as patch:
            patch.setattr(AlertOperator, "_send", killed)
            with pytest.raises(Killed):
                look()

    with mail_server(port) as server:
        look()
        before = len(server.mails)
        replications.shut(store, geneva, Hold.EXCEPTION, REASON)
        kill_before_it_sends()
        look()
        replications.lift(store, geneva, Hold.EXCEPTION, "repaired")
        kill_before_it_sends()
        look()
        look()
    assert [mail["Subject"] for mail in server.mails[before:]] == [
        "Sluice: flights->geneva: stopped by an error",
        "Sluice: over: flights->geneva: stopped by an error",
    ]
