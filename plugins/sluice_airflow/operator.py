"""The one operator: runs a file of spark_jobs/ through a warm Spark Connect server or by spark-submit.

Which of the two is the type of the configured Spark connection (`spark_connect`, `spark`). Everything else is the same
in both: the file, its arguments, its environment, its result, its exit codes.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from airflow.sdk import BaseOperator, Context

from sluice import connections, paths, shell
from sluice.config import configuration, configuration_text
from sluice.config.configuration import Config
from sluice.errors import ConfigError, TransientError
from sluice.model import requester
from sluice.model.requester import REQUESTERS_ENV, Requester
from sluice.spark_environment import work_name
from sluice_airflow import launch, lineage, metrics, requesters, run_notes
from sluice_airflow.airflow_versions import NATIVE_OPERATOR, AirflowSkipException, retry_arguments, retrying_by
from sluice_airflow.child import Child
from sluice_airflow.failures import JobCrashed, JobEnded, JobFailed, JobPostponed, Retries
from sluice_airflow.sealing import (
    JOBS_OF_EVERYTHING,
    MISSING,
    find_connection,
    get_connection,
    needed_connections,
    seal_connections,
)
from sluice_airflow.spark_link import SparkLink, pages

# What one of our runs tells another in its `conf`, beside the choices of the form.
CONF_OF_RUNS = frozenset({"after", "refused"})
# Airflow is being stopped, or somebody ended the task: either way the job is not to blame.
EXITS_ASKED_FOR = frozenset({-signal.SIGTERM, 128 + signal.SIGTERM})
# The XCom of a task that failed: what went wrong with its last try, without the HINT.
ERROR_KEY = "error"
_LONGEST_ERROR = 2000


class SluiceSparkOperator(BaseOperator):
    """Run `spark_jobs/<job>.py` and return its result, a dict.

    Args:
        job: name of the file, without .py.
        arguments: option name -> value, templated and rendered to native values. True becomes `--name`; None,
            False and blank values become nothing; a list becomes one `--name=value` each. Blanks around a value go.
        only_if: templated; if it renders to False the task is skipped.
        skip_if: name of a text in the result. If it is there, nothing was done, for this reason: the task is skipped.
        patience: after so many tries what passes is no failure: the task is skipped. None: as `retries` has it.
        outlet_if: name of a number in the result. If it is 0, this run made nothing new and the outlets get no event.
        command: it is for people with one of the roles that `command_roles` of the configuration names, or whom Airflow
            lets trigger it.
        personal: this command is for the person alone who triggered the run: the job is told who that is, also where
            `command_roles` names no role.
        answer_of: the task whose question a person with such a role has to have answered. The job is told `answer` and
            `who`.
        if_asked: templated; if it renders to False nobody was asked.

    The run's note says how it ended: the result's `note` if it has one, the reason of a failure or of being skipped.

    Raises:
        JobFailed: exit code 3, a terminal error in the job's own words; it is not tried again.
        JobPostponed: exit code 75, or the job was ended by a SIGTERM.
        JobCrashed: any other exit code, or no result.
    """

    template_fields: Sequence[str] = ("arguments", "only_if", "if_asked")
    ui_color = "#cfe8f3"
    operator_extra_links = (SparkLink(),)
    jobs: Path = paths.PROJECT / "spark_jobs"

    def __init__(
        self,
        *,
        job: str,
        arguments: Mapping[str, Any] | None = None,
        only_if: str = "True",
        skip_if: str | None = None,
        patience: int | None = None,
        outlet_if: str | None = None,
        command: bool = False,
        personal: bool = False,
        answer_of: str | None = None,
        if_asked: str = "True",
        retry_policy: Retries | None = None,
        **kwargs: Any,
    ) -> None:
        policy = retry_policy or Retries()
        # Lists, numbers and switches come out of the trigger form as such, not as text.
        super().__init__(**NATIVE_OPERATOR | kwargs | retry_arguments(policy))
        self.retry_policy = policy
        self.job = job
        self.arguments = dict(arguments or {})
        self.only_if = only_if
        self.skip_if = skip_if
        self.patience = patience
        self.outlet_if = outlet_if
        self.command = command
        self.personal = personal
        self.answer_of = answer_of
        self.if_asked = if_asked
        self._child: Child | None = None
        self._spark_pages = ""

    def execute(self, context: Context) -> dict[str, Any]:
        with retrying_by(self.retry_policy, context):
            return self._execute(context)

    def _execute(self, context: Context) -> dict[str, Any]:
        if str(self.only_if) == "False":
            raise AirflowSkipException(f"job {self.job} has nothing to do in a run like this")
        try:
            result = self._run(context)
        except JobEnded as ended:
            self.tell_end(context, ended)
            if isinstance(ended, JobPostponed) and self.patience and context["ti"].try_number >= self.patience:
                raise AirflowSkipException("the next run tries again") from None
            raise
        if note := result.get("note"):
            run_notes.write(context, note)
        if self.skip_if is not None and (reason := result.get(self.skip_if)):
            raise AirflowSkipException(reason)
        if self.outlet_if is not None and result.get(self.outlet_if) == 0:
            # Airflow emits events for the outlets that the task still has when it ends.
            self.outlets = []
        return result

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> Any:
        """The tables that the job read and wrote. Airflow's OpenLineage provider looks for a method of this name."""
        return lineage.facets(self.table_pairs)

    def tell_end(self, context: Context, ended: JobEnded) -> None:
        """Say why the task fails: in its log, in an XCom, and in the note of its run."""
        for line in ended.lines():
            self.log.error("%s", line)
        context["ti"].xcom_push(key=ERROR_KEY, value=ended.fact[:_LONGEST_ERROR])
        run_notes.write(context, ended.reason)

    @property
    def table_pairs(self) -> list[dict[str, Any]]:
        """The tables of masters whose rows this run brought to tables of slaves, as the job said them."""
        return self._child.output.lineage if self._child else []

    @property
    def spark_pages(self) -> str:
        """The address of the pages of its Spark; empty if nobody knows it."""
        return self._spark_pages

    def on_kill(self) -> None:
        if self._child is not None:
            self._child.stop()

    def command_line(self) -> list[str]:
        """The arguments as the job's own parser reads them. `=` keeps a value that starts with a dash a value."""
        words = []
        for name, value in self.arguments.items():
            option = f"--{name.replace('_', '-')}"
            if value is True:
                words.append(option)
                continue
            values = value if isinstance(value, list | tuple) else [value]
            given = [str(each).strip() for each in values if not (each is None or each is False)]
            words += [f"{option}={each}" for each in given if each]
        return words

    def _run(self, context: Context) -> dict[str, Any]:
        try:
            _expect_choices(context)
            command, env = self._prepare(context)
        except TransientError as error:
            raise JobPostponed(str(error)) from None
        except ConfigError as error:
            raise (JobPostponed if error.code == MISSING else JobFailed)(str(error)) from None
        self._child = Child(command, env, self.log, metrics.hand_on)
        return self._outcome(self._child.run(), self._child)

    def _prepare(self, context: Context) -> tuple[list[str], dict[str, str]]:
        settings = configuration.load()
        ids = needed_connections(settings, self.job, self.arguments.get("source"), self._many("slave"))
        # A missing connection must not keep such a job from looking at all others; it says what is missing.
        sealed = seal_connections(ids, find_connection if self.job in JOBS_OF_EVERYTHING else get_connection)
        ti = context["ti"]
        job_env = {
            configuration_text.CONFIG_ENV: configuration_text.place(),
            **configuration_text.environment(),
            paths.HOME_ENV: str(paths.home()),
            connections.SEALED_ENV: sealed,
            shell.DAG_PREFIX_ENV: settings.dag_prefix,
            shell.RUN_ENV: f"{ti.dag_id}/{ti.run_id}/{ti.task_id}/{ti.try_number}",
        }
        if metrics.are_on():
            job_env[shell.SIGNALS_ENV] = "1"
        if lineage.is_wanted():
            job_env[shell.LINEAGE_ENV] = "1"
        if people := self._people(context, settings):
            job_env[REQUESTERS_ENV] = requester.to_text(people)
        spark = get_connection(settings.spark)
        self._spark_pages = pages(spark)
        file = self.jobs / f"{self.job}.py"
        if spark.conn_type == "spark_connect":
            command = [sys.executable, str(file), *self.command_line()]
            job_env |= launch.connect_environment(spark)
        elif spark.conn_type == "spark":
            name = work_name(self.job, *self._many("source"), slaves=self._many("slave"))
            command = launch.submit_command(spark, name, file, self.command_line())
            job_env |= launch.submit_environment(spark, os.environ)
        else:
            raise ConfigError(
                17,
                f"connection {settings.spark} is of type {spark.conn_type}; jobs run by spark_connect or spark",
                f"change the type of the Airflow connection {settings.spark}",
            )
        self.log.info("job=%s arguments=%s spark=%s", self.job, self.command_line(), spark.conn_type)
        return command, launch.environment(os.environ) | job_env

    def _people(self, context: Context, settings: Config) -> list[Requester]:
        """Those whose roles, or names, this task depends on."""
        answer = None
        if self.answer_of and str(self.if_asked) != "False":
            answer = requesters.answer(context, self.answer_of)
            self.arguments |= {"answer": answer.chosen, "who": answer.user}
        if not settings.command_roles and not self.personal:
            return []
        roles = bool(settings.command_roles) and not settings.airflow_decides
        if self.command and not answer:
            requesters.expect_new(context)
        triggered = requesters.for_run(context, roles=roles) if self.command else None
        return [*([triggered] if triggered else []), *([answer.requester(roles=roles)] if answer else [])]

    def _outcome(self, exit_code: int, child: Child) -> dict[str, Any]:
        output = child.output
        if exit_code == JobFailed.exit_code:
            raise JobFailed(output.reason)
        if exit_code == JobPostponed.exit_code:
            raise JobPostponed(output.reason)
        if exit_code in EXITS_ASKED_FOR:
            raise JobPostponed(f"job {self.job} was ended by a SIGTERM")
        if exit_code != 0:
            ended = f"signal {-exit_code}" if exit_code < 0 else f"exit code {exit_code}"
            raise JobCrashed(f"job {self.job} ended with {ended}; its last lines:\n{output.reason}")
        if output.result is None:
            lines = f"its last lines:\n{output.reason}"
            raise JobCrashed(f"job {self.job} ended without a result line; {lines}")
        self.log.info("job=%s result=%s", self.job, output.result)
        return output.result

    def _many(self, name: str) -> list[str]:
        value = self.arguments.get(name) or []
        return [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)]


def _expect_choices(context: Context) -> None:
    """Airflow takes any name in a run's `conf`, and the form's default for what was meant: all slaves, perhaps.

    Raises:
        ConfigError: SLC-914, the form has no such choice.
    """
    # Those of the run have what is strange among them.
    run, known = context["dag_run"], context["dag"].params
    if strange := sorted(set(run.conf or {}) - set(known) - CONF_OF_RUNS):
        raise ConfigError(
            914,
            f"{run.dag_id} has no choice called {', '.join(strange)}",
            f"nothing was changed; trigger it again with these: {', '.join(known)}",
        )
