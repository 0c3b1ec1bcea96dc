"""The embedded runtime without its servers: ports, processes, records, progress, Java."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import yaml

from sluice import config
from sluice.errors import SluiceError
from sluice.runtime import java, placement, ports, processes
from sluice.runtime.layout import Layout, write_private
from sluice.runtime.progress import Progress
from sluice.runtime.state import State, alone
from sluice_airflow import pools

SLEEPER = ["sleep", "600"]
WITH_CHILD = ["sh", "-c", "sleep 600; true"]


@pytest.fixture
def layout(tmp_path) -> Layout:
    layout = Layout(tmp_path / "home")
    layout.make()
    return layout


@pytest.fixture
def started(layout):
    """Starts services of this home; none outlives the test."""
    services = []

    def start(name: str, command=SLEEPER):
        log = layout.log(name)
        services.append(processes.start(name, command, home=layout.home, env=os.environ, log=log, cwd=layout.home))
        return services[-1]

    yield start
    processes.end(processes.family(services), signal.SIGKILL, 5)


@pytest.fixture
def listener():
    """A port that somebody listens on."""
    with socket.socket() as server:
        server.bind((ports.LOOPBACK, 0))
        server.listen()
        yield server.getsockname()[1]


def eventually(holds) -> bool:
    deadline = time.monotonic() + 10
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_a_taken_port_is_stepped_around(listener):
    assert not ports.is_free(listener)
    assert ports.choose("x", listener) > listener


def test_two_services_get_two_ports(listener):
    first = ports.choose("x", listener)
    assert ports.choose("y", listener, [first]) > first


def test_no_free_port_is_an_error_that_names_them(monkeypatch):
    monkeypatch.setattr(ports, "is_free", lambda _: False)
    with pytest.raises(SluiceError, match=r"api-server: the ports 8080 to 8129 of 127\.0\.0\.1 are all taken"):
        ports.choose("api-server", 8080)


def test_a_service_ends_with_all_that_it_started(started):
    service = started("parent", WITH_CHILD)
    assert eventually(lambda: len(processes.family([service])) == 2)
    family = processes.family([service])
    processes.end(family, signal.SIGTERM, 5)
    assert not service.alive
    assert not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in family)


def test_a_number_that_was_given_away_is_not_ours(started):
    stranger = replace(started("x"), began="another boot 1")
    assert not stranger.alive
    assert processes.family([stranger]) == []


def test_processes_without_a_record_are_known_by_their_mark(layout, started):
    service = started("x")
    assert eventually(lambda: service.pid in {process.pid for process in processes.marked(layout.home)})
    assert os.getpid() not in {process.pid for process in processes.marked(layout.home)}
    assert processes.marked(layout.home / "other") == []


def test_a_service_that_ended_fails_with_the_end_of_its_log(started):
    service = started("x", [sys.executable, "-c", "raise SystemExit('the disk is full')"])
    with pytest.raises(SluiceError, match=r"(?s)x ended:.*the disk is full.*the whole log: .*x\.log"):
        service.wait_until(lambda: False, 10)


def test_a_service_that_is_never_ready_fails_in_time(started):
    with pytest.raises(SluiceError, match="SLC-931: x is not ready after 0 s"):
        started("x").wait_until(lambda: False, 0.2)


def test_a_stranger_on_the_port_is_not_our_service(started, listener):
    assert not started("x").listens_on(listener)


def test_the_record_survives_and_knows_what_runs(layout, started):
    State(layout).record(started("x"))
    kept = State(layout)
    assert kept.running("x") is not None
    assert kept.running("y") is None
    assert layout.state_file.stat().st_mode & 0o777 == 0o600


def test_a_record_that_was_cut_short_is_no_record(layout):
    layout.state_file.write_text('{"services": [{"name"')
    assert State(layout).services == {}


def test_only_one_starts_or_stops_at_a_time(layout):
    holder = (
        "import sys; from pathlib import Path; from sluice.runtime.layout import Layout;"
        "from sluice.runtime.progress import Progress; from sluice.runtime.state import alone\n"
        "with alone(Layout(Path(sys.argv[1])), Progress()): print('mine', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, layout.home],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "mine\n"
        shown = io.StringIO()
        began = time.monotonic()
        threading.Timer(0.3, other.stdin.close).start()
        with alone(layout, Progress(shown)):
            assert time.monotonic() - began >= 0.25
    assert "waiting for another ./sluice" in shown.getvalue()


def test_progress_says_every_while_what_is_still_going_on():
    shown = io.StringIO()
    progress = Progress(shown, heartbeat_s=0.05)
    with progress.step("Airflow") as one, progress.step("Spark"):
        one.update("waiting for scheduler")
        time.sleep(0.2)
    lines = shown.getvalue().splitlines()
    assert any("... Airflow (waiting for scheduler) 0 s, Spark 0 s" in line for line in lines)
    assert lines[-1].startswith("[0:00] Airflow: done in 0.")


def test_progress_says_what_failed():
    shown = io.StringIO()
    with pytest.raises(ZeroDivisionError), Progress(shown).step("Spark"):
        raise ZeroDivisionError
    assert "Spark: failed" in shown.getvalue()


def test_a_private_file_is_private_from_the_start(tmp_path):
    write_private(tmp_path / "token", "x")
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["token"]


@pytest.mark.parametrize("deep", [False, True], ids=["short", "long"])
def test_the_socket_has_a_short_path_wherever_the_home_is(tmp_path, deep):
    directory = tmp_path / ("d" * 100 if deep else "d")
    place = placement.Place.of(directory, None)
    assert len(f"{place.sockets}/.s.PGSQL.54320") < 107
    assert place.base == directory


def test_a_directory_that_belongs_to_somebody_else_is_refused(tmp_path):
    planted = tmp_path / "planted"
    planted.symlink_to(tmp_path)
    with pytest.raises(SluiceError, match="SLC-923"):
        placement._make_guarded(planted, 0o755)


def fake_java(directory: Path, version: str, modules: str) -> Path:
    program = directory / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        f'#!/bin/sh\ncase "$*" in\n'
        f"  *--list-modules*) echo '{modules}' ;;\n"
        f"  *-version*) echo '    java.home = {directory}'; echo 'openjdk version \"{version}\"' >&2 ;;\n"
        f'  *) for word; do echo "$word"; done ;;\nesac\n'
    )
    program.chmod(0o755)
    return program


def test_the_machines_java_is_taken_as_it_is(tmp_path, monkeypatch):
    program = fake_java(tmp_path / "jdk", "17.0.1", "jdk.incubator.vector@17")
    monkeypatch.setenv("JAVA_HOME", str(program.parents[1]))
    assert java.java_home(tmp_path / "own") == tmp_path / "jdk"


def test_a_java_without_the_vector_module_is_not_asked_for_it(tmp_path, monkeypatch):
    program = fake_java(tmp_path / "jdk", "21", "java.base@21")
    monkeypatch.setenv("JAVA_HOME", str(program.parents[1]))
    home = java.java_home(tmp_path / "own")
    said = subprocess.run(
        [home / "bin" / "java", "-Xmx1g", "--add-modules=jdk.incubator.vector", "a b"], capture_output=True, text=True
    )
    assert said.stdout.splitlines() == ["-Xmx1g", "a b"]


def test_an_old_java_is_passed_over_for_the_packaged_one(tmp_path, monkeypatch):
    old = fake_java(tmp_path / "jdk", "11.0.2", "java.base@11")
    monkeypatch.setenv("JAVA_HOME", str(old.parents[1]))
    monkeypatch.setenv("PATH", "/nonexistent")
    assert java.java_home(tmp_path / "own") == tmp_path / "own"


def test_airflow_gets_no_password_by_its_environment(layout):
    from sluice.runtime import airflow, environment

    airflow.make_secrets(layout)
    url = "postgresql+psycopg://airflow@/airflow?host=/x&port=1"
    env = airflow.environment(layout, environment.shared(layout, Path("/java")), 8080, url)
    assert airflow.password(layout) not in json.dumps(env)
    assert (layout.airflow / "airflow.cfg").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("slaves", [1, 2, 4, 9])
def test_as_many_tasks_may_run_as_the_pools_have_slots(layout, tmp_path, monkeypatch, slaves):
    from sluice.runtime import airflow, environment

    names = [f"slave{number}" for number in range(slaves)]
    settings = {
        "sources": {"flights": {"connection": "master", "tables": {"public.t": {}}}},
        "slaves": {name: {"connection": name} for name in names},
        "replications": [{"source": "flights", "slave": name} for name in names],
    }
    file = tmp_path / "replication.yaml"
    file.write_text(yaml.safe_dump(settings))
    monkeypatch.setenv(config.CONFIG_ENV, str(file))
    env = airflow.environment(layout, environment.shared(layout, Path("/java")), 8080, "postgresql://")
    allowed = int(env["AIRFLOW__CORE__PARALLELISM"])
    assert allowed >= sum(pools.slots(config.load()).values())
    assert allowed == 6 or slaves > 2, "each idle worker costs memory"
