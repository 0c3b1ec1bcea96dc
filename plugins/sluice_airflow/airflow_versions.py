"""What differs between the Airflows that Sluice runs in. Each difference is asked by the ability, not by the version.

Where an Airflow has a name elsewhere, this module takes it from there. Where it lacks an ability, this module does what
comes nearest.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from inspect import signature
from typing import Any

from airflow.sdk import BaseOperator

try:
    from airflow.sdk.exceptions import (
        AirflowException,
        AirflowFailException,
        AirflowNotFoundException,
        AirflowSkipException,
        AirflowTaskTimeout,
    )
except ImportError:
    from airflow.exceptions import (
        AirflowException,
        AirflowFailException,
        AirflowNotFoundException,
        AirflowSkipException,
        AirflowTaskTimeout,
    )
try:
    from airflow.sdk import AssetOrTimeSchedule, CronTriggerTimetable, DeltaTriggerTimetable
except ImportError:
    from airflow.timetables.assets import AssetOrTimeSchedule
    from airflow.timetables.trigger import CronTriggerTimetable, DeltaTriggerTimetable
try:
    from airflow.sdk.bases.skipmixin import SkipMixin
except ImportError:
    from airflow.providers.standard.utils.skipmixin import SkipMixin
stats: Any
try:
    from airflow.sdk.observability import stats as sdk_stats
except ImportError:
    from airflow.stats import Stats as stats  # noqa: N813
else:
    # Functions of the module; in Airflow 3.2 methods of its class.
    stats = sdk_stats if hasattr(sdk_stats, "gauge") else vars(sdk_stats)["Stats"]

try:
    from airflow.sdk import RetryDecision, RetryPolicy

    HAS_RETRY_POLICIES = True
except ImportError:
    HAS_RETRY_POLICIES = False

    class RetryAction(Enum):  # type: ignore[no-redef]
        """What follows a failure."""

        RETRY = "retry"
        FAIL = "fail"
        DEFAULT = "default"

    @dataclass(frozen=True)
    class RetryDecision:  # type: ignore[no-redef]
        """A policy's answer to a failure, as later Airflows have it."""

        action: RetryAction = RetryAction.DEFAULT
        retry_delay: timedelta | None = None
        reason: str | None = None

        @classmethod
        def fail(cls, reason: str | None = None) -> RetryDecision:
            """Do not retry."""
            return cls(RetryAction.FAIL, reason=reason)

        @classmethod
        def retry(cls, delay: timedelta | None = None, reason: str | None = None) -> RetryDecision:
            """Retry after this delay."""
            return cls(RetryAction.RETRY, delay, reason)

        @classmethod
        def default(cls) -> RetryDecision:
            """Do what the task's own arguments say."""
            return cls()

    class RetryPolicy:  # type: ignore[no-redef]
        """The base of policies."""


# Whether templates are rendered to native values is said by each operator; or, in an older Airflow, by the DAG alone.
_NATIVE = {"render_template_as_native_obj": True}
_IS_OPERATORS = _NATIVE.keys() <= signature(BaseOperator.__init__).parameters.keys()
NATIVE_OPERATOR, NATIVE_DAG = (_NATIVE, {}) if _IS_OPERATORS else ({}, _NATIVE)

__all__ = [
    "NATIVE_DAG",
    "NATIVE_OPERATOR",
    "AirflowException",
    "AirflowFailException",
    "AirflowNotFoundException",
    "AirflowSkipException",
    "AirflowTaskTimeout",
    "AssetOrTimeSchedule",
    "CronTriggerTimetable",
    "DeltaTriggerTimetable",
    "RetryDecision",
    "RetryPolicy",
    "SkipMixin",
    "retry_arguments",
    "retrying_by",
    "stats",
]


def retry_arguments(policy: Any) -> dict[str, Any]:
    """The arguments of an operator that retries by a policy.

    An Airflow without policies has one delay for each kind of failure.
    """
    if HAS_RETRY_POLICIES:
        return {"retry_policy": policy}
    return {"retry_delay": policy.fixed_delay} if policy.fixed_delay else {}


@contextmanager
def retrying_by(policy: Any, context: Any) -> Iterator[None]:
    """Let a failure that the policy does not retry end the task; Airflow asks the policy itself where it can.

    Raises:
        AirflowFailException: the failure, which this Airflow would retry else.
    """
    try:
        yield
    except (AirflowSkipException, AirflowFailException):
        raise
    except (Exception, SystemExit) as error:
        ti = context["ti"]
        if not HAS_RETRY_POLICIES and policy.evaluate(error, ti.try_number, ti.max_tries).action.value == "fail":
            raise AirflowFailException(str(error)) from None
        raise
