"""What a Spark job says by its exit code."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys

import pytest

from sluice.context import Context
from sluice.errors import SluiceError, TransientError
from sluice.model.names import TableName
from sluice.spark import job


@pytest.fixture
def ends(monkeypatch):
    """The exit code of a job that does this."""
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("sys.argv", ["job"])
    monkeypatch.setattr(Context, "of_job", lambda: None)
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
    assert ends(lambda: fail(SluiceError(61, "no", "mend it"))) == job.TERMINAL == 3
    assert ends(lambda: fail(TransientError(60, "no", "start it"))) == job.TRANSIENT == 75


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
from sluice.errors import SluiceError
from sluice.spark import job
def terminated():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)
{more}
class Context:
    of_job = staticmethod(lambda: None)
job.Context = Context
atexit.register(print, "cleaned up")
job.run(argparse.ArgumentParser(), lambda context, options: terminated())
"""


@pytest.mark.parametrize("more", ["", IN_A_SESSION, READING], ids=["asleep", "in a session", "while Arrow reads ahead"])
def test_a_job_that_is_terminated_says_so_whatever_that_interrupts(more):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(more=more)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (143, "cleaned up\n", "")
