"""What a Spark job says by its exit code."""

from __future__ import annotations

import argparse
import os
import signal
import time

import pytest

from sluice import extensions
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
    extensions.leaving.clear()
    signal.signal(signal.SIGTERM, before)


def fail(error):
    raise error


def terminated():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)


def terminated_in_a_session():
    try:
        terminated()
    finally:
        fail(SluiceError(61, "can't change 'autocommit' now", "let the role own its database"))


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


@pytest.mark.parametrize("call", [terminated, terminated_in_a_session])
def test_a_job_that_is_terminated_says_so_whatever_that_interrupts(ends, call):
    assert ends(call) == job.TERMINATED == 143
