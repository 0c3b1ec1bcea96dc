"""The house operator against a fake job: result, exit codes, environment, command line, and its end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path

import pytest
from airflow.sdk import Asset, Connection
from support.waiting import until

from sluice.config.configuration import Config
from sluice.connections import open_sealed
from sluice_airflow import api_server, launch
from sluice_airflow.failures import JobCrashed, JobFailed, JobPostponed
from sluice_airflow.operator import SluiceSparkOperator
from sluice_airflow.sealing import needed_connections, seal_connections

CANARY = "canary-5f3a9c-password"
# Reports what a curious user of the machine could see of a job, and what it was given.
SPY = """
import json, os, sys
from pathlib import Path
print("level=warning event=started", file=sys.stderr)
print("a line on stdout that is no result")
everybody = []
for entry in Path("/proc").glob("[0-9]*/cmdline"):
    try:
        everybody.append(entry.read_bytes().replace(b"\\0", b" ").decode())
    except OSError:
        pass
print(json.dumps({"argv": sys.argv[1:], "env": dict(os.environ), "everybody": everybody}))
"""


def operator(**kwargs) -> SluiceSparkOperator:
    arguments = {"source": "flights", "slave": ["zurich"]} | kwargs.pop("arguments", {})
    return SluiceSparkOperator(task_id="t", job="fake", arguments=arguments, **kwargs)


class Logged:
    """Keeps what is logged, as (level, line)."""

    def __init__(self, kept: list[tuple[str, str]]) -> None:
        self._kept = kept

    def __getattr__(self, level: str):
        return lambda event, *args: self._kept.append((level, event % args))

    def log(self, level: int, event: str, *args) -> None:
        self._kept.append(("info", event % args))


def test_the_last_json_line_is_the_result(deployment, context):
    deployment.job('print(\'{"rows": 1}\'); print("done"); print(\'{"rows": 2}\')')
    assert operator().execute(context) == {"rows": 2}


def test_arguments_become_options(deployment, context):
    deployment.job(SPY)
    arguments = {"slave": ["zurich", "geneva"], "table": [], "sample": 0, "initial": True, "once": False, "x": None}
    result = operator(arguments=arguments).execute(context)
    assert result["argv"] == ["--source=flights", "--slave=zurich", "--slave=geneva", "--sample=0", "--initial"]


def test_a_job_says_where_it_runs_and_what_configures_it(deployment, context, monkeypatch):
    with (deployment.path / "replication.yaml").open("a") as settings:
        settings.write("dag_prefix: acme_\n")
    monkeypatch.setenv("SLUICE_CLI", "./sluice")
    deployment.job(SPY)
    env = operator().execute(context)["env"]
    assert env["SLUICE_RUN"] == "d/r/t/1"
    assert env["SLUICE_CONFIG"] == str(deployment.path / "replication.yaml")
    assert env["SLUICE_HOME"] == str(deployment.path / "home")
    # Its messages name commands as they are typed there.
    assert (env["SLUICE_CLI"], env["SLUICE_DAG_PREFIX"]) == ("./sluice", "acme_")
    assert env["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)


@pytest.mark.parametrize(
    ("job", "ids"),
    [
        ("bootstrap", {"test_control", "test_master", "test_zurich"}),
        ("publish", {"test_control", "test_master", "test_zurich", "test_airflow_api"}),
        ("drain", {"test_control", "test_master", "test_zurich", "test_airflow_api"}),
        ("blocks", {"test_control", "test_master", "test_zurich", "test_airflow_api"}),
        ("cancel", {"test_control", "test_master", "test_zurich", "test_airflow_api"}),
        ("inhibit", {"test_control", "test_master", "test_zurich", "test_airflow_api"}),
        ("release", {"test_control", "test_master", "test_zurich", "test_airflow_api"}),
        # It is for all slaves, and told of none.
        ("statement", {"test_control", "test_master", "test_zurich", "test_geneva", "test_airflow_api"}),
    ],
)
def test_a_job_gets_the_connections_it_needs_and_no_other(deployment, context, job, ids):
    (deployment.jobs / f"{job}.py").write_text(SPY)
    slave = {} if job == "statement" else {"slave": "zurich"}
    task = SluiceSparkOperator(task_id="t", job=job, arguments={"source": "flights", **slave})
    opened = open_sealed(task.execute(context)["env"]["SLUICE_CONNECTIONS"])
    assert set(opened) == ids
    assert opened["test_zurich"].password == CANARY
    assert (opened["test_zurich"].host, opened["test_zurich"].port, opened["test_zurich"].database) == ("db", 5432, "d")


@pytest.mark.parametrize(
    ("kind", "roles", "told"),
    [
        ({"command": True}, "[op]", '[{"user": "eva", "roles": ["user"], "answered": ""}]'),
        ({}, "[op]", ""),
        ({"command": True}, "[]", ""),
        ({"command": True, "personal": True}, "[]", '[{"user": "eva", "roles": [], "answered": ""}]'),
    ],
    ids=["a command", "no command", "no role is asked for", "it is one person's all the same"],
)
def test_a_command_is_told_who_triggered_it_with_which_roles(deployment, context, kind, roles, told):
    file = deployment.path / "replication.yaml"
    file.write_text(file.read_text().replace("command_roles: []", f"command_roles: {roles}"))
    context["dag_run"].triggering_user_name = "eva"
    deployment.job('import json, os; print(json.dumps({"told": os.environ.get("SLUICE_REQUESTERS", "")}))')
    assert operator(**kind).execute(context) == {"told": told}
    context["dag_run"].run_id, context["dag_run"].clear_number = "r", 1
    refusal = pytest.raises(JobFailed, match="SLC-382") if told else nullcontext()
    with refusal:
        operator(**kind).execute(context)


def test_no_password_is_in_a_jobs_environment_or_on_any_command_line(deployment, context, monkeypatch, caplog):
    monkeypatch.setenv("AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", f"postgresql://airflow:{CANARY}@db/airflow")
    monkeypatch.setenv("AIRFLOW_VAR_SECRET", CANARY)
    monkeypatch.setenv("PGPASSWORD", CANARY)
    monkeypatch.setenv("no_proxy", "db.example")
    deployment.job(SPY)
    result = operator().execute(context)
    assert CANARY not in str(result)
    assert result["env"]["no_proxy"] == result["env"]["NO_PROXY"] == "db.example,localhost,127.0.0.1,::1"
    assert result["env"]["SLUICE_CONNECTIONS"] not in str(result["everybody"])
    assert CANARY not in caplog.text


def test_the_page_of_a_task_links_to_its_spark_if_the_connection_names_its_pages(deployment, context, connect):
    deployment.job("print({})")
    for ui, link in (("", ""), ("http://spark.example:4040/", "http://spark.example:4040/jobs/"), ("javascript:x", "")):
        connect("test_spark", conn_type="spark_connect", host="127.0.0.1", port=1, extra=json.dumps({"ui": ui}))
        task = operator()
        task.execute(context)
        assert task.operator_extra_links[0].get_link(task, ti_key=None) == link


def test_a_connect_token_is_in_the_environment_and_not_in_the_address(deployment, context, connect, monkeypatch):
    monkeypatch.setenv("SPARK_REMOTE", "sc://another/")
    monkeypatch.setenv("SLUICE_PY_FILES", "of another Spark")
    connect("test_spark", conn_type="spark_connect", host="127.0.0.1", port=15009, password="a-token")
    deployment.job(SPY)
    result = operator().execute(context)
    assert result["env"]["SPARK_REMOTE"] == "sc://localhost:15009/"
    assert "SLUICE_PY_FILES" not in result["env"]
    assert result["env"]["SPARK_CONNECT_AUTHENTICATE_TOKEN"] == "a-token"
    assert "a-token" not in str(result["everybody"])


def test_pyspark_sends_a_token_to_the_loopback_without_tls(deployment, connect, monkeypatch):
    """The reason for writing `localhost`: to 127.0.0.1 PySpark would speak TLS, which the server does not."""
    from airflow.sdk import BaseHook
    from pyspark.sql.connect.client import DefaultChannelBuilder

    connect("test_spark", conn_type="spark_connect", host="127.0.0.1", port=15009, password="a-token")
    for name, value in launch.connect_environment(BaseHook.get_connection("test_spark")).items():
        monkeypatch.setenv(name, value)
    builder = DefaultChannelBuilder(os.environ["SPARK_REMOTE"])
    assert (builder.host, builder.token, builder.use_ssl) == ("localhost", "a-token", False)


FAR = {"conn_type": "spark_connect", "host": "far.example"}
YARN, CLUSTER = {"conn_type": "spark", "host": "yarn"}, "SLC-017: .* deploy mode cluster"


@pytest.mark.parametrize(
    ("spark", "message"),
    [
        pytest.param({**FAR, "password": "a-token"}, "SLC-017: .* without TLS", id="token-in-clear"),
        pytest.param({**FAR, "extra": {"headers": {"x": 7}}}, "SLC-017: .* without TLS", id="headers-in-clear"),
        pytest.param({**YARN, "extra": {"deploy-mode": "cluster"}}, CLUSTER, id="cluster-mode"),
        pytest.param({**YARN, "extra": {"conf": {"spark.submit.deployMode": "cluster"}}}, CLUSTER, id="by-property"),
        pytest.param({"conn_type": "http", "host": "far.example"}, "SLC-017: .* of type http", id="no-spark"),
    ],
)
def test_a_spark_connection_that_cannot_work_is_refused(deployment, context, connect, spark, message):
    connect("test_spark", **spark)
    deployment.job(SPY)
    with pytest.raises(JobFailed, match=rf"{message}(.|\n)*HINT: "):
        operator().execute(context)


def test_a_far_connect_server_is_reached_by_tls_with_its_headers(deployment, connect):
    from airflow.sdk import BaseHook
    from pyspark.sql.connect.client import DefaultChannelBuilder

    extra = {"use_ssl": True, "headers": {"x-databricks-cluster-id": "7=;x"}}
    connect("test_spark", conn_type="spark_connect", host="far.example", login="me", password="t", extra=extra)
    remote = launch.connect_environment(BaseHook.get_connection("test_spark"))["SPARK_REMOTE"]
    assert remote.startswith("sc://far.example:15002/;user_id=me;use_ssl=true;")
    assert DefaultChannelBuilder(remote).metadata() == [("x-databricks-cluster-id", "7=;x")]


def test_a_terminal_error_fails_the_task_in_the_jobs_own_words(deployment, context):
    deployment.job(
        "import sys\n"
        "print('level=info event=reading', file=sys.stderr)\n"
        "print('SLC-041: slave zurich is at position 7', file=sys.stderr)\n"
        "print('  but the log starts at 9', file=sys.stderr)\n"
        "print('HINT: run initial_update', file=sys.stderr)\n"
        "print('level=info event=closed', file=sys.stderr)\n"
        "sys.exit(3)"
    )
    with pytest.raises(JobFailed) as failure:
        operator().execute(context)
    expected = "SLC-041: slave zurich is at position 7\n  but the log starts at 9\nHINT: run initial_update"
    assert str(failure.value) == expected


def test_a_failed_task_says_why_in_wrapped_lines_and_shows_no_traceback_of_ours(deployment, context, monkeypatch):
    fact = "SLC-041: slave zurich is at position 7, " + "but the log starts at 9, " * 6
    deployment.job(f"import sys; print({fact!r} + '\\nHINT: type this', file=sys.stderr); sys.exit(3)")
    logged = []
    monkeypatch.setattr(SluiceSparkOperator, "log", Logged(logged))
    # Airflow shows the traceback of every other exception.
    with pytest.raises(SystemExit):
        operator().execute(context)
    failed = [line for level, line in logged if level == "error"]
    assert failed[0].startswith("SLC-041: slave zurich is at position 7")
    assert failed[-1] == "HINT: type this"
    assert max(map(len, failed)) <= 110
    assert " ".join(" ".join(failed[:-1]).split()) == fact.strip()
    assert sum("SLC-041" in line for _, line in logged) == 1


def test_a_transient_error_may_be_tried_again(deployment, context):
    deployment.job("import sys\nprint('SLC-101: no route to zurich', file=sys.stderr)\nsys.exit(75)")
    with pytest.raises(JobPostponed, match="SLC-101: no route to zurich"):
        operator().execute(context)


@pytest.mark.parametrize("job", ["import os; os.kill(os.getpid(), 15)", "raise SystemExit(143)"])
def test_a_job_that_was_asked_to_end_may_be_tried_again(deployment, context, job):
    deployment.job(job)
    with pytest.raises(JobPostponed, match="SIGTERM"):
        operator().execute(context)


@pytest.mark.parametrize(
    ("job", "message"),
    [
        pytest.param("raise ValueError('what')", r"exit code 1(.|\n)*ValueError: what", id="traceback"),
        pytest.param("import os; os.kill(os.getpid(), 9)", "signal 9", id="killed"),
        pytest.param("print('no result')", "without a result line", id="silent"),
    ],
)
def test_a_crash_shows_the_last_lines(deployment, context, job, message):
    deployment.job(job)
    with pytest.raises(JobCrashed, match=message):
        operator().execute(context)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [({"source": "nowhere"}, "SLC-003"), ({"slave": ["nowhere"]}, "SLC-003")],
)
def test_an_unknown_name_is_a_terminal_error(deployment, context, arguments, error):
    deployment.job(SPY)
    with pytest.raises(JobFailed, match=error):
        operator(arguments=arguments).execute(context)


@pytest.mark.parametrize("conn_id", ["test_master", "test_spark"])
def test_a_connection_that_somebody_is_to_add_is_named_and_waited_for(deployment, context, monkeypatch, conn_id):
    monkeypatch.delenv(f"AIRFLOW_CONN_{conn_id.upper()}")
    with pytest.raises(JobPostponed, match=f"SLC-014: .*{conn_id}.*\nHINT: type: ./sluice connect {conn_id}"):
        operator().execute(context)


@pytest.mark.parametrize(("transactions", "events"), [(0, 0), (3, 1)])
def test_an_asset_event_tells_of_something_new(deployment, context, transactions, events):
    deployment.job(f"print('{{\"transactions\": {transactions}}}')")
    task = operator(outlets=[Asset("sluice://flights/changelog")], outlet_if="transactions").prepare_for_execution()
    task.execute(context)
    assert len(task.outlets) == events


def test_killing_the_task_ends_the_job_politely(deployment, context):
    deployment.job(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('{\"ended\": true}', flush=True), sys.exit(0)))\n"
        "print('level=info event=up', file=sys.stderr, flush=True)\n"
        "time.sleep(60)"
    )
    task = operator()
    threading.Thread(
        target=lambda: (until(lambda: task._child and task._child.output.tail), task.on_kill()), daemon=True
    ).start()
    assert task.execute(context) == {"ended": True}


def test_sealing_outside_of_a_task_prints_what_a_job_can_open(deployment):
    command = [sys.executable, "-m", "sluice_airflow.sealing", "test_master", "test_zurich"]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=60)
    assert CANARY not in done.stdout + done.stderr
    assert set(open_sealed(done.stdout.strip())) == {"test_master", "test_zurich"}


def test_sealing_inside_a_task(deployment):
    assert open_sealed(seal_connections(["test_master"]))["test_master"].login == "u"


def test_each_is_given_the_connections_that_it_opens_and_a_comparison_alone_those_that_may_only_read(monkeypatch):
    used = {"connection": "m", "reading_connection": "mr", "standby_connection": "ms"}
    settings = Config.model_validate(
        {
            "sources": {
                "flights": {**used, "tables": {"public.t": None}},
                "back": {"connection": "z", "standby_connection": "zs", "tables": {"public.t": None}},
            },
            "slaves": {"zurich": {"connection": "z", "reading_connection": "zr"}, "geneva": {"connection": "g"}},
            "replications": [{"source": "flights", "slave": "zurich"}, {"source": "flights", "slave": "geneva"}],
        }
    )
    asked = ("flights", ["zurich", "geneva"])
    assert {"m", "z", "g", "mr", "zr"} <= set(needed_connections(settings, "verify", *asked))
    assert not {"mr", "zr"} & set(needed_connections(settings, "repair", *asked))
    assert "zs" not in needed_connections(settings, "verify", *asked)
    monkeypatch.setattr(api_server.Connection, "get_connection_from_secrets", lambda one: Connection(conn_id=one))
    assert {"m", "ms", "z", "zs"} <= api_server._connections(settings).keys(), "pages look at all"


def test_a_repair_is_given_every_way_that_could_go_back_though_each_role_has_a_connection_of_its_own():
    """Whether two connections are of one database is not known before both are looked up."""
    names = ("east", "west", "north", "south", "alone")
    standby = {"standby_connection": "west_standby"}
    sources = {name: {"connection": f"{name}_m", "tables": {"public.t": None}} for name in names}
    sources["west"] |= standby
    ways = [("east", "west", True), ("west", "east", True), ("west", "north", True)]
    ways += [(one, "south", False) for one in ("east", "west")] + [("alone", "alone", False)]
    settings = Config.model_validate(
        {
            "sources": sources,
            "slaves": {name: {"connection": f"{name}_s"} for name in names},
            "replications": [{"source": one, "slave": other, "block_loop": own} for one, other, own in ways],
        }
    )
    given = set(needed_connections(settings, "repair", "east", ["west"]))
    assert {"east_m", "east_s", "west_m", "west_s", "west_standby", "north_s"} <= given
    assert not {"alone_m", "alone_s"} & given, "what is not needed, is not given"
    assert "west_m" not in needed_connections(settings, "repair", "alone", ["alone"])
    assert {"east_m", "west_s"} <= set(needed_connections(settings, "repair", "west", ["south"])), "both get the east's"
