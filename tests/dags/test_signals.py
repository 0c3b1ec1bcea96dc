"""Signals for others: the metrics that Prometheus reads, and who may read them."""

from __future__ import annotations

import json
import os
import re
import sys
import time

import pytest
import yaml
from airflow.sdk.observability import stats
from support.collector import expect_figure_of_task
from support.waiting import until

from sluice.model.names import TableName
from sluice.model.row_conflict import conflict_counts
from sluice.monitor.signals import (
    ACTIVE,
    ANSWERS,
    BATCH,
    CHANGES,
    CONDITION,
    CONFLICTS,
    DELIVERED,
    DIFFERENT,
    DRAIN_FAILING,
    DRAIN_SUCCESS,
    FAILING,
    HOLDBACK,
    KEPT_LOG,
    LAG,
    LEFT_LOG,
    LOG_BYTES,
    PUBLISHED,
    REJECTED,
    SIGNALS,
    STATUS,
    SUCCESS,
    SWEEP,
    WELL,
    Sample,
)
from sluice.pages.metrics import exposition
from sluice.paths import PROJECT
from sluice.state.dispatcher import Hold
from sluice.store import replications
from sluice_airflow.operator import SluiceSparkOperator

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
TOKEN = "0123456789abcdef-canary"
# Where nothing was compared, and triggers capture the changes.
ABSENT = {DIFFERENT.name, KEPT_LOG.name, LEFT_LOG.name}
LINE = re.compile(r"^(\w+)\{(.*)\} (\S+)$", re.MULTILINE)


@pytest.fixture
def scrape(pages_world, visit):
    """Reads the metrics as Prometheus does, by the token of the configuration: the answer, and the samples in it."""
    file = pages_world.path / "metrics.token"
    file.write_text(f"{TOKEN}\n")
    file.chmod(0o600)
    pages_world.settings["pages"] = {"metrics_token_file": str(file)}
    (pages_world.path / "replication.yaml").write_text(yaml.safe_dump(pages_world.settings))

    def scraping():
        answer = visit(None, Authorization=f"Bearer {TOKEN}").get("/metrics")
        return answer, {(name, labels): float(value) for name, labels, value in LINE.findall(answer.text)}

    return scraping


def test_prometheus_reads_the_figures_of_the_status(pages_world, scrape):
    world, store = pages_world, pages_world.context.store
    world.master.execute("INSERT INTO t VALUES (1), (2)")
    world.master.execute("INSERT INTO t VALUES (3)")
    world.publish()
    world.drain("zurich")
    conflicts = conflict_counts(TableName("public", "t"), 4)
    replications.record_delivery(store, world.pair("zurich"), world.position("zurich"), conflicts)
    replications.shut(store, world.pair("geneva"), Hold.ADMIN, "for a test")
    source, zurich, geneva = (f'source="flights"{more}' for more in ("", ',slave="zurich"', ',slave="geneva"'))
    # Nobody waits for the look whether they answer; the first scrape begins it.
    looked = [(ANSWERS.name, zurich), (ANSWERS.name, geneva), (WELL.name, zurich)]

    def is_looked_at() -> bool:
        # The look may take as long as a publisher may be away.
        world.publish()
        return [scrape()[1].get(each) for each in looked] == [1, 1, 1]

    until(is_looked_at, seconds=90)
    answer, found = scrape()
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert {name for name, _ in found} == {one.name for one in SIGNALS} - ABSENT
    assert answer.text.count("# TYPE") == answer.text.count("# HELP") == len(SIGNALS) - len(ABSENT)
    lags = [found.pop((LAG.name, one)) for one in (zurich, geneva)]
    assert (lags[0], 0 < lags[1] < 600) == (0, True)
    assert found.pop((BATCH.name, zurich)) > 0
    assert (BATCH.name, geneva) not in found, "it was given nothing yet"
    assert found.pop((SWEEP.name, source)) > 0
    successes = [found.pop((SUCCESS.name, source)), found.pop((DRAIN_SUCCESS.name, zurich))]
    assert all(0 < time.time() - at < 600 for at in successes)
    assert (found[FAILING.name, source], found[DRAIN_FAILING.name, zurich]) == (0, 0)
    assert found.pop((LOG_BYTES.name, source)) == world.context.manifest("flights").bytes()
    assert {key: value for key, value in found.items() if value} == {
        (STATUS.name, f'{zurich},status="NORMAL"'): 1,
        (STATUS.name, f'{geneva},status="NORMAL"'): 1,
        (CONDITION.name, f'{zurich},condition="well"'): 1,
        (CONDITION.name, f'{geneva},condition="on standby"'): 1,
        (WELL.name, zurich): 1,
        (ACTIVE.name, zurich): 1,
        (ANSWERS.name, zurich): 1,
        (ANSWERS.name, geneva): 1,
        (HOLDBACK.name, geneva): 2,
        (DELIVERED.name, zurich): 2,
        (CONFLICTS.name, zurich): 4,
        (PUBLISHED.name, source): 2,
        (CHANGES.name, source): 3,
    }
    assert found[REJECTED.name, zurich] == 0


@pytest.mark.full
@pytest.mark.parametrize("pages_world", [{"capture": "log", "slot_retains_mb": 64}], indirect=True)
def test_metrics_and_pages_tell_how_much_of_its_log_a_master_keeps(pages_world, visit, scrape):
    pages_world.master.execute("SELECT pg_logical_emit_message(false, 'nobody', repeat('x', 70000000))")
    kept = (KEPT_LOG.name, 'source="flights"')
    until(lambda: kept in scrape()[1], seconds=90)
    assert scrape()[1][kept] > 70_000_000
    assert (LEFT_LOG.name, kept[1]) not in scrape()[1], "the server has no limit"
    (one, _) = visit("eva").get("/api/v1/replications").json()
    assert (one["kept_log"]["state"], one["kept_log"]["holder"][:5]) == ("reserved", "repl_")
    for page in ("/", "/replications/flights/zurich"):
        assert "of the server&#39;s log are kept by the slot repl_" in visit("eva").get(page).text


def test_the_token_opens_the_metrics_and_nothing_else(pages_world, visit, scrape):
    assert scrape()[0].status_code == 200
    client = visit(None, Authorization=f"Bearer {TOKEN}")
    others = [
        "/",
        "/api/v1/replications",
        "/metrics/",
        "/api/v1/metrics",
        "/static/pages.css",
        "/replications/a/metrics",
    ]
    assert {client.get(path).status_code for path in others} == {401}
    assert client.post("/metrics").status_code == 401
    for wrong in (TOKEN[:-1], f"{TOKEN}x", "prometheus", "ä"):
        answer = visit(None, Authorization=f"Bearer {wrong}".encode()).get("/metrics")
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


def test_a_token_that_is_no_secret_opens_nothing(pages_world, visit, scrape, caplog):
    file = pages_world.path / "metrics.token"
    for text, mode, fault in (
        ("short", 0o600, "characters"),
        (TOKEN, 0o644, "others may read"),
        (None, 0, "cannot be read"),
    ):
        file.unlink()
        if text:
            file.write_text(text)
            file.chmod(mode)
        answer = visit(None, Authorization=f"Bearer {text or TOKEN}").get("/metrics")
        assert (answer.status_code, str(file) in answer.text) == (401, False)
        assert re.search(f"SLC-243: .*{fault}", caplog.text)
        # People come in as before.
        assert visit("eva").get("/metrics").status_code == 200


def test_a_task_sends_the_figures_of_its_job_as_metrics_of_airflow(deployment, context, monkeypatch):
    sent = []
    monkeypatch.setenv("AIRFLOW__METRICS__OTEL_ON", "True")
    monkeypatch.setattr(stats, "gauge", lambda name, value, tags: sent.append((name, value, tags)))
    deployment.job(
        "import json, os\n"
        "print(json.dumps({'signals': [['sluice_lag_seconds', {'slave': 'zurich'}, 4.5]]}))\n"
        "print(json.dumps({'asked': os.environ['SLUICE_SIGNALS']}))"
    )
    task = SluiceSparkOperator(task_id="t", job="fake", arguments={"source": "flights"})
    assert task.execute(context) == {"asked": "1"}
    assert sent == [("sluice.lag_seconds", 4.5, {"slave": "zurich"})]


def test_a_figure_of_a_task_arrives_at_a_collector(tmp_path):
    places = {"AIRFLOW_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    expect_figure_of_task(sys.executable, {**os.environ, **places})


def test_what_a_label_holds_ends_no_line():
    hostile = Sample(LAG, {"slave": 'a"b\\c\nd'}, 0.1 + 0.2)
    assert exposition([hostile]).splitlines()[-1] == 'sluice_lag_seconds{slave="a\\"b\\\\c\\nd"} 0.3'


def test_the_dashboard_asks_for_metrics_that_exist_and_for_all_of_them():
    board = json.loads((PROJECT / "deploy" / "grafana.json").read_text(encoding="utf-8"))
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked += [one["query"]["query"] for one in board["templating"]["list"] if one["type"] == "query"]
    named = set(re.findall(r"sluice_\w+", " ".join(asked)))
    assert named == {one.name for one in SIGNALS}
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
