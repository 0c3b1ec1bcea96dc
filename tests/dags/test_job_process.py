"""A job as a child process: what it says is sorted, and it never outlives its task."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from support.waiting import until

from sluice.errors import TransientError, WorkLost
from sluice_airflow.child import Child, Output


def gone(pid: int) -> bool:
    """No such process, or only its unreaped remains."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def spawn(program: str, grace_s: float = 0.5) -> Child:
    command = [sys.executable, "-c", textwrap.dedent(program)]
    return Child(command, dict(os.environ), logging.getLogger("test"), grace_s)


def test_a_job_deaf_to_sigterm_is_killed_with_all_it_started():
    child = spawn(
        """
        import signal, subprocess, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print(other.pid, flush=True)
        time.sleep(60)
        """
    )
    threading.Thread(target=lambda: (until(lambda: child.output.tail), child.stop()), daemon=True).start()
    assert child.run() == -signal.SIGKILL
    until(lambda: gone(int(child.output.tail[0])))


def test_what_a_finished_job_left_running_is_ended():
    child = spawn(
        """
        import subprocess, sys
        print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid, flush=True)
        """
    )
    assert child.run() == 0
    until(lambda: gone(int(child.output.tail[0])))


def test_stopping_from_a_signal_handler_in_the_middle_of_a_run():
    """As Airflow does it: the handler runs in the very thread that waits for the job."""
    child = spawn("import time; print('up', flush=True); time.sleep(60)", grace_s=120)
    previous = signal.signal(signal.SIGTERM, lambda *_: child.stop())
    threading.Thread(
        target=lambda: (until(lambda: child.output.tail), os.kill(os.getpid(), signal.SIGTERM)), daemon=True
    ).start()
    try:
        assert child.run() == -signal.SIGTERM
    finally:
        signal.signal(signal.SIGTERM, previous)


TASK = textwrap.dedent(
    """
        import logging, os, sys
        from sluice_airflow.child import Child
        job = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
        logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.INFO)
        Child([sys.executable, "-c", job], dict(os.environ), logging.getLogger()).run()
    """
)
SUPERVISOR = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {TASK!r}])"


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends orphans on Linux only")
@pytest.mark.parametrize("killed", [TASK, SUPERVISOR], ids=["task", "supervisor"])
def test_a_job_does_not_outlive_a_killed(killed):
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", killed], env=env, stdout=subprocess.PIPE, text=True) as process:
        job = int(process.stdout.readline())
        process.kill()
    try:
        until(lambda: gone(job))
    finally:
        with suppress(ProcessLookupError):
            os.kill(job, signal.SIGKILL)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        pytest.param(["a", "SLC-001: x", "HINT: y", "b"], "SLC-001: x\nHINT: y", id="with-hint"),
        pytest.param(["SLC-001: x", "level=info event=closed"], "SLC-001: x", id="without-hint"),
        pytest.param(["SLC-001: x", "HINT: y", "SLC-002: z"], "SLC-002: z", id="the-last-one-counts"),
        pytest.param(["a", "b"], "a\nb", id="no-error"),
    ],
)
def test_the_reason_is_the_jobs_error_or_its_last_lines(lines, reason):
    output = Output()
    for line in lines:
        output.take(line)
    assert output.reason == reason


def test_a_statement_that_spark_lost_is_not_to_be_issued_again_before_it_was_looked_at(job_module, monkeypatch):
    def lose(*_):
        raise WorkLost(376, "Spark lost it", "the run tries again by itself")

    job = job_module("statement")
    monkeypatch.setattr(job, "as_task", lose)
    with pytest.raises(TransientError, match=r"SLC-109: .*statement 7 was executed: Spark lost it") as told:
        job.call(None, argparse.Namespace(source="flights", statement=7))
    assert "statement flights --show 7" in told.value.hint
