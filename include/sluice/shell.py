"""The commands that messages tell a person to type, in a form that works where the message is read.

`SLUICE_CLI` says how `./sluice` is called there: the embedded runtime and docker-compose.yaml set it, and jobs inherit
it. Where it is not set, DAGs are paused and triggered by the deployment's own `airflow`.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence

from sluice import paths
from sluice.model.names import Pair, dag_id
from sluice.model.requester import REQUESTERS_ENV

CLI_ENV = "SLUICE_CLI"
# What DAG ids begin with, for a job in a deployment without `SLUICE_CLI`.
DAG_PREFIX_ENV = "SLUICE_DAG_PREFIX"
CLI = "sluice" if paths.INSTALLED else "./sluice"
# Who writes to the audit trail.
RUN_ENV = "SLUICE_RUN"
# Set for a job whose task hands signals on.
SIGNALS_ENV = "SLUICE_SIGNALS"
# Set if the lineage of a job is wanted by whoever started it.
LINEAGE_ENV = "SLUICE_LINEAGE"


def deployment_names() -> dict[str, str | None]:
    """The names of this process, its people and its deployment in messages and in the audit trail, for a task
    elsewhere.
    """
    return {name: os.environ.get(name) for name in (CLI_ENV, DAG_PREFIX_ENV, RUN_ENV, REQUESTERS_ENV)}


def adopt(names: Mapping[str, str | None]) -> None:
    """Let messages of this process name the deployment as those of another one do."""
    for name, value in names.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def sluice(*words: object) -> str:
    """A command of `./sluice`, ready for a shell."""
    return f"{os.environ.get(CLI_ENV) or CLI} {shlex.join(map(str, words))}"


def status() -> str:
    """The command that shows how the slaves stand."""
    return sluice("status")


def check() -> str:
    """The command that looks at everything the configuration names."""
    return sluice("check")


def connect(conn_id: str) -> str:
    """The command that adds an Airflow connection; it asks for what it needs."""
    return sluice("connect", conn_id)


def airflow(*words: object) -> str:
    """A command of Airflow's own command line, in the environment of our Airflow."""
    if os.environ.get(CLI_ENV):
        return sluice("airflow", *words)
    return f"airflow {shlex.join(map(str, words))}"


def trigger(dag: str, **conf: object) -> str:
    """The command that starts a run of a DAG with these choices of its form; `dag` is its id without the prefix."""
    if os.environ.get(CLI_ENV):
        return sluice("trigger", dag, *(f"{name}={_plain(value)}" for name, value in conf.items()))
    return airflow("dags", "trigger", _dag_id(dag), "--conf", json.dumps(conf))


def update(source: str, slaves: Sequence[str], **choices: object) -> str:
    """The command that fills slaves anew, or, with choices of its form, otherwise."""
    return trigger("initial_update", source=source, slaves=list(slaves), **choices)


def unpause(pair: Pair) -> str:
    """The command that lets a slave's drain run."""
    if os.environ.get(CLI_ENV):
        return sluice("unpause", pair.source, pair.slave)
    return airflow("dags", "unpause", _dag_id("drain", pair.source, pair.slave))


def unpause_dags(dags: Sequence[str]) -> str:
    """The command that lets DAGs of these ids run, all at once."""
    if len(dags) == 1:
        return airflow("dags", "unpause", *dags)
    return airflow("dags", "unpause", "--treat-dag-id-as-regex", f"^({'|'.join(dags)})$", "--yes")


def unpause_publish(source: str) -> str:
    """The command that lets a source be published."""
    if os.environ.get(CLI_ENV):
        return sluice("unpause", source, "--publish")
    return airflow("dags", "unpause", _dag_id("publish", source))


def cancel(pair: Pair) -> str:
    """The command that ends a slave's update."""
    return sluice("cancel", pair.source, pair.slave)


def losses(pair: Pair, *options: object) -> str:
    """The command that shows what columns of a slave would lose, and allows it."""
    return sluice("losses", pair.source, pair.slave, *options)


def dispatcher(pair: Pair, *options: object) -> str:
    """The command that shows what a slave stands in front of, and decides about it."""
    return sluice("dispatcher", pair.source, pair.slave, *options)


def rejected_changes(pair: Pair) -> str:
    """The command that shows what a slave did not carry out."""
    return sluice("rejected", pair.source, pair.slave)


def _dag_id(*names: str) -> str:
    return dag_id(os.environ.get(DAG_PREFIX_ENV, ""), *names)


def _plain(value: object) -> str:
    """A choice as `sluice.airflow_api.dags` reads it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(item, str) and _is_plain(item) for item in value):
        return ",".join(value)
    return json.dumps(value)


def _is_plain(text: str) -> bool:
    return bool(text) and "," not in text and not text.startswith("[") and text == text.strip()
