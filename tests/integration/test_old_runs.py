"""Old runs of our DAGs and old logs are deleted; what is newer, and what others have, stays."""

from __future__ import annotations

import os
import runpy
from argparse import Namespace
from datetime import UTC, datetime, timedelta

import pytest

from sluice.airflow_api import old_runs
from sluice.errors import TransientError
from sluice.paths import HOME_ENV, PROJECT

pytestmark = [pytest.mark.postgres]

NOW = datetime.now(UTC)
OLD = NOW - timedelta(days=20)


@pytest.fixture
def world(build, airflow, tmp_path, monkeypatch):
    monkeypatch.setenv(HOME_ENV, str(tmp_path / "home"))
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    world.infos[world.context.config.airflow_api] = airflow.info()
    return world


def log(file, written):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("a line\n")
    for path in (file, *file.parents[:3]):
        os.utime(path, (written.timestamp(), written.timestamp()))
    return file


@pytest.mark.full
def test_what_is_old_and_ours_goes(world, airflow, tmp_path):
    drain = "drain__flights__zurich"
    for name, ended in (("old", OLD), ("new", NOW)):
        for dag in (drain, "verify", "anothers"):
            airflow.at_work[f"{dag}/{name}"] = {"state": "success", "conf": {}, "end_date": ended.isoformat()}
    airflow.at_work[f"{drain}/running"] = {"state": "running", "conf": {}, "end_date": None}
    logs = tmp_path / "logs"
    gone = log(logs / f"dag_id={drain}" / "run_id=old" / "task_id=drain" / "attempt=1.log", OLD)
    waiting = logs / f"dag_id={drain}" / "run_id=running" / "task_id=drain" / "attempt=1.log"
    kept = [
        log(waiting, OLD),
        log(logs / f"dag_id={drain}" / "run_id=new" / "task_id=drain" / "attempt=1.log", NOW),
        log(logs / "dag_id=anothers" / "run_id=old" / "task_id=t" / "attempt=1.log", OLD),
    ]
    done = old_runs.clean_up(world.context.runs(), world.context.config, 14, logs)
    assert (done["runs"], done["logs"]) == (2, 1)
    assert set(airflow.at_work) == {f"{dag}/new" for dag in (drain, "verify", "anothers")} | {
        "anothers/old",
        f"{drain}/running",
    }
    assert not gone.parent.parent.exists()
    assert all(file.exists() for file in kept)
    assert old_runs.clean_up(world.context.runs(), world.context.config, 14, logs)["note"].startswith(
        "deleted 0 runs and 0 logs"
    )


def test_the_log_of_a_service_is_cut_while_it_writes(world, tmp_path, monkeypatch):
    monkeypatch.setattr(old_runs, "_LONGEST_LOG", 1_000)
    monkeypatch.setattr(old_runs, "_KEPT_OF_IT", 100)
    file = tmp_path / "home" / "logs" / "scheduler.log"
    file.parent.mkdir(parents=True)
    with file.open("ab", buffering=0) as service:
        service.writelines(b"line %d\n" % number for number in range(500))
        assert old_runs.clean_up(world.context.runs(), world.context.config, 14, None)["logs"] == 1
        service.write(b"line 500\n")
    lines = file.read_text().splitlines()
    assert lines == [f"line {number}" for number in range(501 - len(lines), 501)]
    assert 5 < len(lines) < 20


def test_what_airflow_refuses_is_tried_again(world, airflow):
    airflow.at_work["verify/old"] = {"state": "success", "conf": {}, "end_date": OLD.isoformat()}
    airflow.refuses = True
    with pytest.raises(TransientError, match=r"SLC-302: .*old runs cannot be deleted"):
        old_runs.clean_up(world.context.runs(), world.context.config, 14, None)


def test_each_setting_bounds_its_own_and_none_of_them_nothing(world):
    control, call = world.session("control"), runpy.run_path(str(PROJECT / "spark_jobs" / "housekeeping.py"))["call"]
    control.execute(
        "INSERT INTO audit (at, source, actor, event) VALUES (now() - interval '2 years', '', 'eva', 'old')"
    )
    control.execute(
        "INSERT INTO initial_update (source, state, run, started_at) VALUES ('flights', 'FAILED', '', %s)", [OLD]
    )
    settings = {"keep_runs_days": None, "keep_records_days": None, "keep_audit_days": None}
    for name, days, done in [
        ("keep_runs_days", None, {}),
        ("keep_records_days", 10, {"records": 1}),
        ("keep_audit_days", 400, {"entries": 1}),
    ]:
        settings[name] = days
        world.configure(lambda plain, wanted=dict(settings): plain.update(wanted))
        assert ("housekeeping" in world.context.config.dags) is (days is not None)
        assert done.items() <= call(world.context, Namespace(days=None, logs=None)).items()
        assert control.execute("SELECT count(*) FROM audit WHERE event = 'old'").fetchone() == (
            name != "keep_audit_days",
        )


def test_the_last_files_of_sparks_event_log_are_kept(world, tmp_path, monkeypatch):
    monkeypatch.setattr(old_runs, "_EVENT_FILES", 2)
    events = tmp_path / "home" / "spark" / "events" / "eventlog_v2_local-1"
    files = [log(events / f"events_{number}_local-1.zstd", OLD + timedelta(hours=number)) for number in (1, 2, 10)]
    files.append(log(events / "appstatus_local-1.inprogress", OLD))
    assert old_runs.clean_up(world.context.runs(), world.context.config, 14, None)["logs"] == 1
    assert [file.exists() for file in files] == [False, True, True, True]
