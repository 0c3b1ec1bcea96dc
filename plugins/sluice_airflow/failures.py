"""How a task ends that failed: in the job's own words, and without a traceback of ours.

Airflow prints the traceback of every exception but SystemExit, before its text. So these are that.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, ClassVar

from sluice_airflow.airflow_versions import AirflowTaskTimeout, RetryDecision, RetryPolicy

# A log line of Airflow's UI is not wrapped, and about as long.
_COLUMNS = 110
_HINT = "HINT: "


class JobEnded(SystemExit):
    """A job did not do what it was asked to; its text says why, and in the last line what to type."""

    exit_code: ClassVar[int] = 1

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.code = self.exit_code
        self.reason = reason

    @property
    def fact(self) -> str:
        """The fact, without the HINT, and without the lines that a crashed job left."""
        return self.reason.partition("\nHINT:")[0].partition("; its last lines:")[0]

    def lines(self) -> Iterator[str]:
        """The text as a log shows it."""
        for line in self.reason.splitlines():
            indent = " " * len(_HINT) if line.startswith(_HINT) else "  "
            yield from textwrap.wrap(
                line, _COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
            ) or [""]


class JobFailed(JobEnded):
    """A terminal error: another try would fail again."""

    exit_code = 3


class JobPostponed(JobEnded):
    """The job met something that passes (a lost connection, a lock), or was asked to end: a retry may succeed."""

    exit_code = 75


class JobCrashed(JobEnded):
    """The job ended without saying why."""


class Retries(RetryPolicy):
    """A transient error is tried again, as often as the task says; a terminal one is not.

    Attributes:
        fixed_delay: between two tries, where Airflow has no policies; None: as the task says.
    """

    fixed_delay: ClassVar[timedelta | None] = None

    def evaluate(self, exception: BaseException, try_number: int, max_tries: int, context: Any = None) -> RetryDecision:
        if isinstance(exception, JobFailed):
            return RetryDecision.fail(reason="another try would fail again")
        return self.decide(exception, try_number)

    def decide(self, exception: BaseException, try_number: int) -> RetryDecision:
        """The answer to any other failure."""
        return RetryDecision.default()

    def serialize(self) -> dict[str, Any]:
        return {}


class KeepTrying(Retries):
    """For as long as a database cannot be reached, and a few times after a crash.

    A failed run needs a human: right for a terminal error, wrong for a slave that is down for the night.
    """

    crashes = 4
    # Before, the next try would find the lease of the job that crashed, and take it for another one at work.
    after_crash = timedelta(seconds=25)
    fixed_delay = after_crash
    longest = timedelta(minutes=2)

    def decide(self, exception: BaseException, try_number: int) -> RetryDecision:
        if isinstance(exception, JobPostponed | AirflowTaskTimeout):
            delay = min(self.longest, timedelta(seconds=5 * 2 ** min(try_number - 1, 10)))
            return RetryDecision.retry(delay, reason="this passes; trying again")
        if try_number > self.crashes:
            return RetryDecision.fail(reason=f"crashed at try {try_number}")
        return RetryDecision.retry(self.after_crash, reason="trying again when what it held is free")
