"""What a Spark job says by its exit code."""

from __future__ import annotations

import argparse
import errno
import os
import resource
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow as pa
import pymysql
import pytest

from sluice.cli import parser
from sluice.context import Context
from sluice.errors import SluiceError, TransientError
from sluice.model.names import TableName
from sluice.spark import job
from sluice.steps import LocalSteps


@pytest.fixture
def ends(monkeypatch):
    """The exit code of a job that does this."""
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("sys.argv", ["job"])
    monkeypatch.setattr(Context, "from_environment", lambda: None)
    monkeypatch.setattr(job, "to_stderr", lambda: None)

    def code(call):
        with pytest.raises(SystemExit) as left:
            job.run(argparse.ArgumentParser(), lambda context, options: call())
        return left.value.code

    yield code
    signal.signal(signal.SIGTERM, before)


def fail(error):
    raise error


def test_what_may_pass_is_told_from_what_would_fail_again(ends):
    assert ends(lambda: fail(SluiceError(33, "no", "fix it"))) == job.TERMINAL == 3
    assert ends(lambda: fail(TransientError(60, "no", "start it"))) == job.TRANSIENT == 75


def full_disk():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/log/segment")


def no_memory():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 20, resource.getrlimit(resource.RLIMIT_AS)[1]))
    try:
        pa.allocate_buffer(1 << 40)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, resource.getrlimit(resource.RLIMIT_AS)[1:] * 2)


def too_large_a_file(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        (tmp_path / "file").write_text("more than that")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def unfit_data():
    pa.array(["canary"]).cast(pa.int64())


def refused():
    pymysql.connect(host="127.0.0.1", port=1)


def no_route():
    raise OSError(errno.EHOSTUNREACH, os.strerror(errno.EHOSTUNREACH))


def no_file():
    Path("/nowhere/file").read_text()


@pytest.mark.parametrize(
    ("call", "code", "said"),
    [
        (no_memory, 75, "SLC-658: there is not enough memory: "),
        (full_disk, 75, "SLC-658: a file cannot be written, since there is no room: No space left on device: /log/seg"),
        (too_large_a_file, 75, "SLC-658: a file cannot be written, since there is no room: File too large"),
        (no_file, 3, "SLC-659: the system refuses something: No such file or directory: /nowhere/file (FileNotFound"),
        (lambda: socket.create_connection(("127.0.0.1", 1)), 75, "SLC-030: another host or program does not answer: "),
        (unfit_data, 3, "SLC-362: Arrow does not take the data: ArrowInvalid ("),
        (no_route, 75, "SLC-659: the system refuses something: No route to host"),
        (refused, 75, "SLC-362: the driver of a database fails: OperationalError (connections.py, "),
    ],
    ids=["memory", "disk", "size of a file", "file", "network", "data", "route", "driver"],
)
def test_an_error_of_a_library_has_a_code_and_says_no_value(ends, capsys, tmp_path, call, code, said):
    assert ends(partial(call, tmp_path) if call is too_large_a_file else call) == code
    told = capsys.readouterr().err
    assert told.startswith(said)
    assert "\nHINT: " in told
    assert "canary" not in told
    assert "Traceback" not in told


def test_a_defect_has_a_code_behind_its_stack(ends, capsys):
    assert ends(lambda: fail(KeyError("what"))) == job.DEFECT == 1
    told = capsys.readouterr().err
    assert told.startswith("Traceback ")
    assert "\nSLC-362: it could not be done: KeyError (test_job.py, " in told


def test_a_command_says_an_error_of_a_library_as_a_job_does(monkeypatch, capsys):
    monkeypatch.setattr(parser, "_status", lambda options: no_file())
    assert parser.main(["status"]) == 1
    told = capsys.readouterr().err
    assert told.startswith("SLC-659: the system refuses something: No such file or directory: /nowhere/file (")


def test_a_step_in_the_process_of_its_job_fails_with_what_its_error_means():
    step = LocalSteps(None).start("a step", lambda _: no_file())
    with pytest.raises(SluiceError, match="SLC-659: "):
        step.wait(10)


def test_blank_values_are_not_given():
    options = argparse.ArgumentParser()
    job.table_options(options)
    job.key_options(options)
    blank = options.parse_args(["--tables=", "--tables= ", "--table", " ", "--key-ranges= "])
    assert (blank.tables, blank.keys) == ([], [])
    given = options.parse_args(
        ["--tables= ", "--tables=public.t", "--table", "public.u", "", "--key-ranges=public.t: 1 .. 2 "]
    )
    assert given.tables == [TableName("public", "t"), TableName("public", "u")]
    assert given.keys == ["public.t: 1 .. 2"]


# A thread of Arrow's that asks for the interpreter without end, as one that reads ahead does for a moment.
READING = """
import pyarrow as pa
from pyarrow import csv
from threading import Thread
class Lines:
    closed = False
    def read(self, size=-1):
        time.sleep(0.002)
        return b"1,2\\n" * 100
def read():
    for _ in csv.open_csv(pa.PythonFile(Lines(), mode="r")): pass
Thread(target=read, daemon=True).start()
time.sleep(0.2)
"""
IN_A_SESSION = """
def terminated(sleep=terminated):
    try:
        sleep()
    finally:
        raise SluiceError(61, "can't change 'autocommit' now", "let the role own its database")
"""
PROGRAM = """
import argparse, atexit, os, signal, time
from types import SimpleNamespace
from sluice.errors import SluiceError
from sluice.spark import job
def terminated():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)
{more}
job.Context = SimpleNamespace(from_environment=lambda: None)
atexit.register(print, "cleaned up")
job.run(argparse.ArgumentParser(), lambda context, options: terminated())
"""


@pytest.mark.parametrize("more", ["", IN_A_SESSION, READING], ids=["asleep", "in a session", "while Arrow reads ahead"])
def test_a_job_that_is_terminated_says_so_whatever_that_interrupts(more):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(more=more)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (143, "cleaned up\n", "")
