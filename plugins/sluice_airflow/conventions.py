"""What all our DAGs have in common: owner, dates, the asset of a change log, forms, and what a retry means."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import Asset, Param, RetryDecision, RetryPolicy, TriggerRule
from airflow.sdk.exceptions import AirflowTaskTimeout

from sluice.config import Config, Source
from sluice_airflow import pools
from sluice_airflow.operator import JobPostponed, SluiceSparkOperator

START = datetime(2025, 1, 1, tzinfo=UTC)

# A run ends on its own; this ends one that hangs. What it committed stays, and the next run goes on from there.
HUNG = timedelta(hours=6)

# How long a disk may be on its way; whoever waited in vain triggers the DAG again.
IN_THE_POST = timedelta(days=30)

DEFAULT_ARGS: dict[str, Any] = {"owner": "sluice", "retries": 2, "retry_delay": timedelta(seconds=15)}

# Runs at the same time of a DAG whose runs wait for people, and for how long each of them does.
MANY = 1_000
ANSWERED_WITHIN = timedelta(days=365)

# Who triggered a run, for the audit trail.
WHO = "{{ dag_run.triggering_user_name or 'somebody' }}"

# Never backfilled, never two at once, and working as soon as the configuration names it.
DAG_SETTINGS: dict[str, Any] = {
    "start_date": START,
    "catchup": False,
    "max_active_runs": 1,
    "is_paused_upon_creation": False,
    "default_args": DEFAULT_ARGS,
}

# One slave's question is not to wait for another's answer.
ASKING_SETTINGS: dict[str, Any] = {**DAG_SETTINGS, "max_active_runs": MANY}


def beside(config: Config) -> dict[str, Any]:
    """The settings of a DAG whose runs are for slaves: these do not wait for each other, and who is to be refused, or
    takes another's place, does not wait either."""
    return {**DAG_SETTINGS, "max_active_runs": len(config.replications) + 1}


def tags(kind: str, name: str, source: Source, *more: str) -> list[str]:
    """What Airflow's list of DAGs can be filtered by."""
    return ["sluice", kind, f"source:{name}", *([f"group:{source.group}"] if source.group else []), *more]


def change_log_asset(source: str) -> Asset:
    """Stands for the change log of one source; an event says that transactions were published."""
    return Asset(f"sluice://{source}/changelog")


def source_param(config: Config) -> Param:
    """A drop-down of the configured sources."""
    names = list(config.sources)
    return Param(names[0], type="string", enum=names, description="the master database")


def slaves_param(config: Config) -> Param:
    """A multiple choice of the configured slaves; those of the first source are chosen."""
    names = list(config.slaves)
    return Param(
        config.slaves_of(next(iter(config.sources))),
        type="array",
        minItems=1,
        uniqueItems=True,
        items={"type": "string", "enum": names},
        # `items` is what validates; `examples` is what makes the form a multiple choice.
        examples=names,
        description="slave databases of that source",
    )


def slave_param(config: Config) -> Param:
    """A drop-down of the configured slaves."""
    names = list(config.slaves)
    return Param(names[0] if names else "", type="string", enum=names, description="a slave database of that source")


def tables_param(config: Config) -> Param:
    """A multiple choice of the watched tables; none chosen means all. What a wildcard takes only the source knows, so
    where there is one, other names may be written too."""
    entries = [
        entry for source in config.sources.values() for entry in zip(source.tables, source.patterns, strict=True)
    ]
    names = sorted({name for name, pattern in entries if not (pattern.wildcard or pattern.excluded)})
    open_ended = any(pattern.wildcard for _, pattern in entries)
    return Param(
        [],
        type="array",
        uniqueItems=True,
        items={"type": "string"} if open_ended else {"type": "string", "enum": names},
        examples=names,
        description="nothing chosen: every watched table of the source",
    )


def key_ranges_param() -> Param:
    """Lines of text, each a range of keys of one table."""
    return Param(
        [],
        type="array",
        items={"type": "string", "pattern": r"^\s*\S+\s*:.*\.\..*$"},
        description="with mode markers: schema.table: FROM .. TO, one a line; nothing: all keys",
    )


def cascade_params(config: Config) -> dict[str, Param]:
    """A drop-down of the replications that may be filled next, and what led to a run, which a run says to the next."""
    names = [f"{one.source}/{one.slave}" for one in config.replications]
    enum = ["", "none", *names]
    return {
        "cascade": Param(
            "", type="string", enum=enum, description="what is filled next; empty: what was the last time"
        ),
        "after": Param([], type="array", items={"type": "string"}, description="what led to this run; not for people"),
    }


def chosen(*names: str, **others: str) -> dict[str, str]:
    """Arguments of a job that are choices of the form; under other names if they are called otherwise there."""
    return {name: f"{{{{ params.{param} }}}}" for name, param in ({name: name for name in names} | others).items()}


class KeepTrying(RetryPolicy):
    """For as long as a database cannot be reached, and a few times after a crash.

    A failed run pauses the DAG of a drain, which a human has to undo: right for a terminal error, wrong for a slave
    that is down for the night. A task that waits for its next try shows in the UI as such.
    """

    crashes = 4
    longest = timedelta(minutes=2)

    def evaluate(self, exception: BaseException, try_number: int, max_tries: int, context: Any = None) -> RetryDecision:
        if isinstance(exception, JobPostponed | AirflowTaskTimeout):
            delay = min(self.longest, timedelta(seconds=5 * 2 ** min(try_number - 1, 10)))
            return RetryDecision.retry(delay, reason="this passes; trying again")
        if try_number > self.crashes:
            return RetryDecision.fail(reason=f"crashed at try {try_number}")
        return RetryDecision.default()

    def serialize(self) -> dict[str, Any]:
        return {}


# The policy decides; this only has to be more than it ever takes.
NO_LIMIT = 1_000_000


def patient(job: str, arguments: Mapping[str, Any], **more: Any) -> SluiceSparkOperator:
    """A task of an initial update whose stream goes on: what passes is waited for, for as long as it takes."""
    return SluiceSparkOperator(
        task_id=job,
        job=job,
        arguments=arguments,
        pool=pools.BULK,
        retries=NO_LIMIT,
        retry_policy=KeepTrying(),
        **more,
    )


def ending_verification(arguments: Mapping[str, Any], update: str) -> SluiceSparkOperator:
    """The last task of an initial update, once its data is in; a slave that is behind, paused or on standby is waited
    for.

    Args:
        update: its number, which an earlier task has told.
    """
    # What comes before it may have been left out.
    ending = {**arguments, "initial": True, "update": update}
    return patient("verify", ending, trigger_rule=TriggerRule.NONE_FAILED)
