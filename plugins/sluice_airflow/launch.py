"""How a job is started: the environment it gets, and the command line of spark-submit.

No password, and no sealed text, is ever in a command line: those are in the process list and in Spark's pages.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.sdk.log import mask_secret

from sluice import loopback, paths
from sluice.errors import ConfigError
from sluice.spark_environment import PY_FILES_ENV, REMOTE_ENV, TOKEN_ENV

# Airflow's own secrets (connections, variables, keys, its database).
_SECRETS = ("AIRFLOW__", "AIRFLOW_CONN_", "AIRFLOW_VAR_", "_AIRFLOW", "__AIRFLOW", "PGPASS")
# And whatever would choose another Spark, or send it other files than the connection says.
_WITHHELD = (*_SECRETS, REMOTE_ENV, TOKEN_ENV, PY_FILES_ENV)
_LISTENS = "SPARK_LOCAL_IP"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})


def environment(own: Mapping[str, str]) -> dict[str, str]:
    """The part of the task's environment that a job inherits: no secret of Airflow's, no proxy to this machine, and
    this Python first on the path.

    bin/spark-submit finds Spark through the first python3 on the path.
    """
    env = {name: value for name, value in own.items() if not name.startswith(_WITHHELD)} | loopback.without_proxies()
    env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), own.get("PATH", os.defpath)])
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [*paths.import_folders("include"), own.get("PYTHONPATH")]))
    env["PYTHONUNBUFFERED"] = "1"
    env["PYSPARK_DRIVER_PYTHON"] = sys.executable
    env.setdefault("PYSPARK_PYTHON", sys.executable)
    return env


def connect_environment(spark: Any) -> dict[str, str]:
    """The variables that PySpark's Connect client reads; the token is not part of the address.

    The connection's extra may also hold `py-files`, as for spark-submit: the session sends them to the executors. And
    `headers`, which the client sends with each call: by one of them a cluster of several is chosen.

    Raises:
        ConfigError: a token, or headers, would have to travel in the clear.
    """
    host = spark.host or "localhost"
    headers = {name: str(value) for name, value in (spark.extra_dejson.get("headers") or {}).items()}
    tls = str(spark.extra_dejson.get("use_ssl", "")).lower() == "true"
    if host in _LOOPBACK:
        # PySpark sends a token without TLS to the host of exactly this name, and to no other (ChannelBuilder).
        host = "localhost"
    elif (spark.password or headers) and not tls:
        raise ConfigError(
            17,
            f"connection {spark.conn_id} has a token or headers, but reaches {host} without TLS",
            "put the Connect server on the loopback of the machine that runs the tasks, or set use_ssl in the extra",
        )
    options = ([f"user_id={quote(spark.login)}"] if spark.login else []) + (["use_ssl=true"] if tls else [])
    options += [f"{quote(name)}={quote(value)}" for name, value in headers.items()]
    remote = f"sc://{host}:{spark.port or 15002}/" + (f";{';'.join(options)}" if options else "")
    made = {REMOTE_ENV: remote}
    if files := spark.extra_dejson.get("py-files"):
        made[PY_FILES_ENV] = files
    for value in headers.values():
        mask_secret(value)
    if spark.password:
        mask_secret(spark.password)
        made[TOKEN_ENV] = spark.password
    return made


def submit_environment(spark: Any, own: Mapping[str, str]) -> dict[str, str]:
    """The variables of spark-submit beside those of a job. A Spark inside of the job listens on the loopback alone: its
    pages ask for no password.
    """
    inside = str(spark.host or "").startswith("local") and _LISTENS not in own
    return {_LISTENS: "127.0.0.1"} if inside else {}


def submit_command(spark: Any, name: str, file: Path, arguments: Sequence[str]) -> list[str]:
    """The spark-submit command, as the provider's hook makes it from the connection (master, queue, keytab ...).

    The connection's extra may also hold `conf` (an object of Spark properties) and `py-files`.
    The hook is not given the environment, and does not run the command: on YARN and Kubernetes it would turn each
    variable into a --conf, and with it the sealed connections into a part of the command line.

    Raises:
        ConfigError: deploy mode cluster, in which the driver does not inherit our environment, and its result is lost.
    """
    extra = spark.extra_dejson
    conf = dict(extra.get("conf") or {})
    if "cluster" in (extra.get("deploy-mode"), conf.get("spark.submit.deployMode")):
        raise ConfigError(
            17,
            f"connection {spark.conn_id} asks for deploy mode cluster; a driver on the cluster gets no connections, "
            "since they come in the environment, and what it prints as its result comes back to nobody",
            f"set deploy-mode to client in the extra of the Airflow connection {spark.conn_id}; executors are on the "
            "cluster all the same",
        )
    hook = SparkSubmitHook(
        conn_id=spark.conn_id,
        name=name,
        conf=conf,
        # Else spark-defaults.conf may choose the other.
        deploy_mode="client",
        py_files=extra.get("py-files"),
        application_args=list(arguments),
    )
    return hook._build_spark_submit_command(str(file))
