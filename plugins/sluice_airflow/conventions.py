"""Conventions of all DAGs: owner, dates, tags, names, the asset of a change log, and what a retry means."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import Asset, TriggerRule

from sluice.config import pools
from sluice.config.configuration import Config
from sluice.config.source import SourceSettings
from sluice_airflow.airflow_versions import NATIVE_DAG
from sluice_airflow.failures import KeepTrying
from sluice_airflow.operator import CONF_OF_RUNS, ERROR_KEY, SluiceSparkOperator

START = datetime(2025, 1, 1, tzinfo=UTC)

# A run ends on its own; this ends one that hangs. What it committed stays, and the next run goes on from there.
HUNG = timedelta(hours=6)

# How long a disk may be on its way; after that a person triggers the DAG again.
IN_THE_POST = timedelta(days=30)

DEFAULT_ARGS: dict[str, Any] = {"owner": "sluice", "retries": 2, "retry_delay": timedelta(seconds=15)}

# Runs at the same time of a DAG whose runs wait for people, and for how long each of them does.
MANY = 1_000
ANSWERED_WITHIN = timedelta(days=365)


def exactly(expression: str) -> str:
    """The template of a value as it is. Else a text that looks like a number, a list or nothing would become that."""
    return f"{{{{ ({expression}) | pprint }}}}"


# Who triggered a run, for the audit trail.
WHO = exactly("dag_run.triggering_user_name or 'somebody'")

# Never backfilled, and never two at once. Whether a new one is paused is said by a setting of Airflow's.
DAG_SETTINGS: dict[str, Any] = {
    "start_date": START,
    "catchup": False,
    "max_active_runs": 1,
    "default_args": DEFAULT_ARGS,
    **NATIVE_DAG,
}

# One slave's question is not to wait for another's answer.
ASKING_SETTINGS: dict[str, Any] = {**DAG_SETTINGS, "max_active_runs": MANY}


def beside(config: Config) -> dict[str, Any]:
    """The settings of a DAG whose runs are for slaves: these do not wait for each other, and who is to be refused, or
    takes another's place, does not wait either.
    """
    return {**DAG_SETTINGS, "max_active_runs": len(config.replications) + 1}


# What a DAG is for, as a tag: what moves changes all the time; what an operator starts; commands for rare moments; and
# questions, which our own runs ask.
PIPELINE, OPERATION, COMMAND = "sluice:pipeline", "sluice:operation", "sluice:command"
QUESTION, UPKEEP = "sluice:question", "sluice:upkeep"


def tags(kind: str, *more: str) -> list[str]:
    """The tags, by which Airflow's list of DAGs can be filtered."""
    return ["sluice", kind, *more]


def source_tags(kind: str, name: str, source: SourceSettings, *more: str) -> list[str]:
    """The same for a DAG of one source."""
    return tags(kind, f"source:{name}", *([f"group:{source.group}"] if source.group else []), *more)


def display_name(kind: str, name: str) -> str:
    """How Airflow's list shows a DAG that is seldom needed: apart from those that are, and as ours."""
    return f"{kind.replace(':', ' ')}: {name}"


def change_log_asset(source: str) -> Asset:
    """Stands for the change log of one source; an event says that transactions were published."""
    return Asset(f"sluice://{source}/changelog")


def run_conf(name: str) -> str:
    """The template of a value that another run of ours passed in `conf`; it is no field of a form."""
    assert name in CONF_OF_RUNS, name
    return exactly(f"(dag_run.conf or {{}}).get('{name}')")


def params(*names: str, **others: str) -> dict[str, str]:
    """Arguments of a job that are choices of the form; under other names if they are called otherwise there."""
    return {name: exactly(f"params.{param}") for name, param in ({name: name for name in names} | others).items()}


# The policy decides; this only has to be more than it ever takes.
NO_LIMIT = 1_000_000


def patient(job: str, arguments: Mapping[str, Any], **more: Any) -> SluiceSparkOperator:
    """A long task of an initial update: what passes is waited for, for as long as it takes."""
    return SluiceSparkOperator(
        task_id=job,
        job=job,
        arguments=arguments,
        pool=pools.BULK,
        retries=NO_LIMIT,
        retry_policy=KeepTrying(),
        **more,
    )


def failure(*tasks: str) -> str:
    """The error of the last of these tasks that failed; empty if none of them said it."""
    return f"{{{{ ti.xcom_pull(task_ids={list(tasks)}, key='{ERROR_KEY}') | select | list | last | default('') }}}}"


def ending_verification(arguments: Mapping[str, Any], update: str) -> SluiceSparkOperator:
    """The last task of an initial update, once its data is in; a slave that is behind, paused or on standby is waited
    for.

    Args:
        update: its number, which an earlier task has told.
    """
    # What comes before it may have been left out.
    ending = {**arguments, "initial": True, "update": update}
    return patient("verify", ending, trigger_rule=TriggerRule.NONE_FAILED)
