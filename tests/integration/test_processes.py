"""What takes a process: services, Java, the launcher, rings of tests, the secrets of a deployment."""

from __future__ import annotations

import io
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
from support.waiting import until

from sluice.errors import SluiceError
from sluice.paths import PROJECT
from sluice.runtime import java, ports, processes
from sluice.runtime.paths import RuntimePaths
from sluice.runtime.state import RuntimeState, alone
from sluice.runtime.terminal import Progress

SLEEPER = ["sleep", "600"]
WITH_CHILD = ["sh", "-c", "sleep 600; true"]


@pytest.fixture
def layout(tmp_path) -> RuntimePaths:
    layout = RuntimePaths(tmp_path / "home")
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
    deadline = time.monotonic() + 120
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


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
    assert eventually(lambda: service.pid in {process.pid for process in processes.list_marked(layout.home)})
    assert os.getpid() not in {process.pid for process in processes.list_marked(layout.home)}
    assert processes.list_marked(layout.home / "other") == []


def test_a_service_that_ended_fails_with_the_end_of_its_log(started):
    service = started("x", [sys.executable, "-c", "raise SystemExit('the disk is full')"])
    with pytest.raises(SluiceError, match=r"(?s)x ended:.*the disk is full.*the whole log: .*x\.log"):
        service.wait_until(lambda: False, 120)


def test_a_service_that_is_never_ready_fails_in_time(started):
    with pytest.raises(SluiceError, match="SLC-931: x is not ready after 0 s"):
        started("x").wait_until(lambda: False, 0.2)


def test_a_stranger_on_the_port_is_not_our_service(started, listener):
    assert not started("x").listens_on(listener)


def test_the_record_survives_and_knows_what_runs(layout, started):
    RuntimeState(layout).record(started("x"))
    kept = RuntimeState(layout)
    assert kept.find_running("x") is not None
    assert kept.find_running("y") is None
    assert layout.state_file.stat().st_mode & 0o777 == 0o600


def test_only_one_starts_or_stops_at_a_time(layout):
    holder = (
        "import sys; from pathlib import Path; from sluice.runtime.paths import RuntimePaths;"
        "from sluice.runtime.terminal import Progress; from sluice.runtime.state import alone\n"
        "with alone(RuntimePaths(Path(sys.argv[1])), Progress()): print('mine', flush=True); sys.stdin.read()"
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
        ended = threading.Event()

        def end():
            until(lambda: "waiting for another ./sluice" in shown.getvalue(), "it does not wait")
            ended.set()
            other.stdin.close()

        threading.Thread(target=end, daemon=True).start()
        with alone(layout, Progress(shown)):
            assert ended.is_set()


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


def test_the_launcher_needs_the_standard_library_alone():
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import runpy; runpy.run_path({str(PROJECT / 'sluice')!r})"],
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr


def test_secrets_are_written_once_and_only_for_us(tmp_path):
    target = tmp_path / "secrets"
    command = [sys.executable, PROJECT / "deploy" / "make_secrets.py", target]
    subprocess.run(command, check=True)
    assert target.stat().st_mode & 0o777 == 0o700
    before = {path.name: path.read_text() for path in target.iterdir()}
    again = subprocess.run(command, check=False, capture_output=True, text=True)
    assert again.returncode == 1
    assert "HINT" in again.stderr
    assert {path.name: path.read_text() for path in target.iterdir()} == before
